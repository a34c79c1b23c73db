"""What a memory is: values, valid by construction. Standard library only."""
