"""Each link as configured and as measured: is the emulation good enough. It knows no protocol."""
