@echo off
rem Double-click to install and run SoulMem. Arguments are passed on to start.py.
setlocal
rem pushd, as cd cannot enter a network path
pushd "%~dp0"
set "PYTHON="
for %%V in (3.13 3.12 3.11 3.10) do (
  if not defined PYTHON py -%%V -c "" >nul 2>nul && set "PYTHON=py -%%V"
)
if not defined PYTHON python -c "" >nul 2>nul && set "PYTHON=python"
if not defined PYTHON (
  echo Python was not found. Install Python 3.10 to 3.13 from https://www.python.org/downloads/
  echo and tick "Add python.exe to PATH", then double-click Start.bat again.
  pause
  exit /b 1
)
%PYTHON% start.py %*
set "CODE=%ERRORLEVEL%"
popd
if not "%CODE%"=="0" pause
exit /b %CODE%
