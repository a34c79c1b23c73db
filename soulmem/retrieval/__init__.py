"""Finding: which memories does this moment call for?"""
