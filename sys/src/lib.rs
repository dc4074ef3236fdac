//! System calls of the measuring path behind a safe surface.
