//! Enums whose variants have texts.

/// Defines an enum, and a table of its variants with their texts, in the same order.
#[macro_export]
macro_rules! named_enum {
    (
        $(#[$meta:meta])*
        $visibility:vis enum $name:ident, $table:ident {
            $($(#[$doc:meta])* $variant:ident: $text:literal,)+
        }
    ) => {
        $(#[$meta])*
        $visibility enum $name {
            $($(#[$doc])* $variant,)+
        }

        const $table: &[($name, &str)] = &[$(($name::$variant, $text)),+];
    };
}
pub use named_enum;
