//! Tables for the classification of changes: names that a language or a framework calls by itself,
//! attributes that do not use a definition's name, and words whose meaning depends on their place.

use crate::lists::words;

/// For each language, names that the language or a framework calls by itself. A `*` stands for any
/// text; a name has at most one.
pub const NAMES_CALLED_BY_FRAMEWORKS: &[(&str, &[&str])] = &[
    ("rust", words!("main")),
    ("go", words!("main init Test* Benchmark* Example* Fuzz*")),
    ("python", words!("__* _*_ test_* Test* setUp* tearDown* pytest_* setup_* teardown_* main")),
    (
        "java",
        words!(
            "main readObject writeObject readResolve writeReplace readObjectNoData finalize
            serialVersionUID serialPersistentFields premain agentmain clone"
        ),
    ),
    ("javascript", SCRIPT),
    ("typescript", SCRIPT),
    ("tsx", SCRIPT),
    ("php", words!("__* test* setUp* tearDown* jsonSerialize scope* get*Attribute set*Attribute")),
    ("c", words!("main wmain WinMain DllMain _start")),
    (
        "cpp",
        words!(
            "main wmain WinMain DllMain _start begin end swap hash get to_json from_json hash_value"
        ),
    ),
    (
        "csharp",
        // A query such as `from x in n select x` calls methods by these names.
        words!(
            "Main Dispose Finalize On* Awake Start Update FixedUpdate LateUpdate Select SelectMany
            Where OrderBy* ThenBy* Join GroupJoin GroupBy Cast"
        ),
    ),
    ("kotlin", words!("main readResolve writeReplace equals hashCode toString")),
    ("scala", words!("main apply unapply readResolve writeReplace")),
    ("swift", words!("main init deinit subscript")),
    ("dart", words!("main")),
    ("lua", words!("__*")),
    ("zig", words!("main panic")),
    ("haskell", words!("main")),
];

const SCRIPT: &[&str] = words!(
    "constructor toJSON toString valueOf then default connectedCallback disconnectedCallback
    attributeChangedCallback componentDid* componentWill* render ngOn* ngAfter* ngDo*"
);

/// For each language, attributes, annotations and decorators that do not use the name of the
/// definition. Of `@functools.cache`, only the first word is looked up here.
pub const ATTRIBUTES_WITHOUT_NAME_USE: &[(&str, &[&str])] = &[
    (
        "rust",
        words!(
            "allow expect warn deny forbid deprecated doc cfg inline must_use repr cold
            track_caller non_exhaustive default"
        ),
    ),
    (
        "python",
        words!(
            "staticmethod classmethod cache lru_cache functools contextmanager dataclass
            dataclasses"
        ),
    ),
    (
        "java",
        words!(
            "SuppressWarnings Deprecated Nullable NonNull NotNull SafeVarargs FunctionalInterface"
        ),
    ),
    ("csharp", words!("Obsolete MethodImpl")),
    ("kotlin", words!("Suppress Deprecated JvmStatic")),
    ("c", words!("unused noinline always_inline noreturn nodiscard maybe_unused deprecated")),
    ("cpp", words!("unused noinline always_inline noreturn nodiscard maybe_unused deprecated")),
];

/// Traits whose derived code does not pass the names of fields and variants to other code. `Debug`
/// prints these names, but output for debugging does not count as behaviour.
pub const DERIVES_WITHOUT_NAME_USE: &[&str] =
    words!("Clone Copy Debug Default PartialEq Eq Hash PartialOrd Ord");

/// Languages in which a string can name a definition at run time.
pub const REFLECTIVE_LANGUAGES: &[&str] = words!(
    "python javascript typescript tsx vue svelte java ruby php csharp kotlin scala swift lua bash
    elixir"
);

/// Modules of Rust's standard library that contain no traits. So an import from such a module only
/// introduces a name, and no methods.
pub const MODULES_WITHOUT_TRAITS: &[&str] = words!(
    "std::collections:: std::path:: std::sync:: std::rc:: std::cell:: std::time:: std::thread::"
);

/// Words whose effect depends on the function that contains them. For example, memory from `alloca`
/// is freed when that function returns. So the function's body cannot replace a call of it.
pub const CALL_FRAME_WORDS: &[&str] =
    words!("recover alloca __builtin_alloca va_start va_arg va_end using");

/// Words that mean the file or the line in which they are written, such as `file` in `file!()`.
/// Code with such a word may change its meaning when it moves to another file.
pub const FILE_DEPENDENT_WORDS: &[&str] = words!(
    "file line column module_path include include_str include_bytes __file__ __name__ __dirname
    __filename __FILE__ __LINE__ __DIR__"
);

/// Texts that decide how a file, or the rest of it, is read, or whether it is compiled at all
/// (`go:build`). If only one of two files contains such a text, code may change its meaning when it
/// moves from one to the other.
pub const FILE_WIDE_DIRECTIVES: &[&str] = &[
    "#![",
    "\"use strict\"",
    "'use strict'",
    "go:build",
    "from __future__",
    "strict_types",
    "macro_rules!",
    "#define",
    "#undef",
    "#pragma",
    "using namespace",
];
