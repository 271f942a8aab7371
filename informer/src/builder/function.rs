//! Functions of the user, and whether two of them are the same.

use std::any::TypeId;
use std::sync::Arc;

/// A function of the user, of the type `F`, and what tells it from others.
pub(crate) struct Function<F: ?Sized> {
    pub(crate) call: Arc<F>,
    id: FunctionId,
}

/// What tells a function from others.
#[derive(Clone, Default)]
pub(crate) struct FunctionId {
    /// The type of a function that captures nothing. It says all about such a function.
    whole: Option<TypeId>,
    /// The name that the user gave it.
    name: Option<Arc<str>>,
}

/// What is known of two functions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Likeness {
    Same,
    Different,
    /// One of them captures something and has no name.
    Unclear,
}

impl FunctionId {
    pub(crate) fn of<F: 'static>(function: &F) -> Self {
        Self {
            whole: (size_of_val(function) == 0).then(TypeId::of::<F>),
            name: None,
        }
    }

    /// The function of a type that has no state. Two callers that use the type have the same function.
    pub(crate) fn of_type<T: 'static>() -> Self {
        Self {
            whole: Some(TypeId::of::<T>()),
            name: None,
        }
    }

    pub(crate) fn named(self, name: &str) -> Self {
        Self {
            name: Some(name.into()),
            ..self
        }
    }

    const fn is_unclear(&self) -> bool {
        self.whole.is_none() && self.name.is_none()
    }
}

impl<F: ?Sized> Function<F> {
    pub(crate) const fn new(call: Arc<F>, id: FunctionId) -> Self {
        Self { call, id }
    }

    pub(crate) fn named(mut self, name: &str) -> Self {
        self.id = self.id.named(name);
        self
    }

    pub(crate) fn likeness(&self, other: &Self) -> Likeness {
        let (one, two) = (&self.id, &other.id);
        let is_clone = Arc::ptr_eq(&self.call, &other.call);
        let is_equal = one.whole.is_some() && one.whole == two.whole;
        let is_namesake = one.name.is_some() && one.name == two.name;
        if is_clone || is_equal || is_namesake {
            Likeness::Same
        } else if one.is_unclear() || two.is_unclear() {
            Likeness::Unclear
        } else {
            Likeness::Different
        }
    }
}

// A derived `Clone` would require `F: Clone`.
impl<F: ?Sized> Clone for Function<F> {
    fn clone(&self) -> Self {
        Self {
            call: Arc::clone(&self.call),
            id: self.id.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Count = dyn Fn() -> usize;

    fn of(function: impl Fn() -> usize + 'static) -> Function<Count> {
        let id = FunctionId::of(&function);
        Function::new(Arc::new(function), id)
    }

    const fn one() -> usize {
        1
    }

    const fn two() -> usize {
        2
    }

    fn capturing(number: usize) -> Function<Count> {
        of(move || number)
    }

    #[test]
    fn functions_that_capture_nothing_are_told_by_their_type() {
        assert_eq!(of(one).likeness(&of(one)), Likeness::Same);
        assert_eq!(of(one).likeness(&of(two)), Likeness::Different);
        let closure = || of(|| 1);
        assert_eq!(closure().likeness(&closure()), Likeness::Same);
        assert_eq!(closure().likeness(&of(|| 1)), Likeness::Different);
        // All function pointers of one signature have the same type.
        let pointer = |function: fn() -> usize| of(function);
        assert_eq!(pointer(one).likeness(&pointer(two)), Likeness::Unclear);
    }

    #[test]
    fn functions_that_capture_something_are_told_by_their_name() {
        assert_eq!(capturing(1).likeness(&capturing(1)), Likeness::Unclear);
        assert_eq!(capturing(1).likeness(&of(one)), Likeness::Unclear);
        assert_eq!(of(one).likeness(&capturing(1)), Likeness::Unclear);
        let named = |number, name| capturing(number).named(name);
        assert_eq!(named(1, "a").likeness(&named(2, "a")), Likeness::Same);
        assert_eq!(named(1, "a").likeness(&named(1, "b")), Likeness::Different);
        assert_eq!(named(1, "a").likeness(&capturing(1)), Likeness::Unclear);
        assert_eq!(named(1, "a").likeness(&of(one)), Likeness::Different);
        assert_eq!(of(one).named("a").likeness(&of(one)), Likeness::Same);
    }

    #[test]
    fn a_clone_is_the_same_function() {
        let function = capturing(1);
        assert_eq!(function.likeness(&function.clone()), Likeness::Same);
    }
}
