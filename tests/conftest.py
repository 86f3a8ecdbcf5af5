"""Every shape annotation of the library is checked in the tests; the hook has to come before the first import."""

from jaxtyping import install_import_hook

install_import_hook("transformer", "beartype.beartype")
