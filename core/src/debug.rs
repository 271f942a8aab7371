//! `Debug` of types that show a part of themselves.

/// Implements `Debug` with the named fields, or with the value behind a `=`. After `; all` there are no
/// other fields to hint at. A derived `Debug` would ask the type parameters for `Debug`, too.
macro_rules! debug_fields {
    ([$($generics:tt)*] $name:ident [$($args:tt)*], $self:ident: $($field:ident $(= $value:expr)?),* $(; $all:ident)?) => {
        impl<$($generics)*> core::fmt::Debug for $name<$($args)*> {
            fn fmt(&$self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                let mut shown = f.debug_struct(stringify!($name));
                $(shown.field(stringify!($field), debug_fields!(@value $self $field $(= $value)?));)*
                debug_fields!(@end shown $($all)?)
            }
        }
    };
    (@value $self:ident $field:ident) => { &$self.$field };
    (@value $self:ident $field:ident = $value:expr) => { &$value };
    (@end $shown:ident) => { $shown.finish_non_exhaustive() };
    (@end $shown:ident all) => { $shown.finish() };
}
