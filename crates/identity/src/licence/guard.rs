//! Guard against programs that accept the licences of tests and go out to people.

#[cfg(all(feature = "test-keys", not(debug_assertions)))]
compile_error!(
    "`test-keys` accepts licences that anybody can sign: it is for builds with debug assertions alone"
);
