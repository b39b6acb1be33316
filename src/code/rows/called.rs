//! Names that a language or a framework calls by itself, and what may stand before a definition without anybody
//! asking for its name.

/// Names, by language; an ending `*` stands for any end, a `*` at the start for any start.
pub(crate) const CALLED: &[(&str, &[&str])] = &[
    ("rust", &["main"]),
    ("go", &["main", "init", "Test*", "Benchmark*", "Example*", "Fuzz*"]),
    (
        "python",
        &[
            "__*",
            "_*_",
            "test_*",
            "Test*",
            "setUp*",
            "tearDown*",
            "pytest_*",
            "setup_*",
            "teardown_*",
            "main",
        ],
    ),
    (
        "java",
        &[
            "main",
            "readObject",
            "writeObject",
            "readResolve",
            "writeReplace",
            "readObjectNoData",
            "finalize",
            "serialVersionUID",
            "serialPersistentFields",
            "premain",
            "agentmain",
            "clone",
        ],
    ),
    ("javascript", SCRIPT),
    ("typescript", SCRIPT),
    ("tsx", SCRIPT),
    ("php", &["__*", "test*", "setUp*", "tearDown*", "jsonSerialize"]),
    ("c", &["main", "wmain", "WinMain", "DllMain", "_start"]),
    (
        "cpp",
        &["main", "wmain", "WinMain", "DllMain", "_start", "begin", "end", "swap", "hash", "get"],
    ),
    ("csharp", &["Main", "Dispose", "Finalize", "OnGet*", "OnPost*"]),
    ("kotlin", &["main", "readResolve", "writeReplace", "equals", "hashCode", "toString"]),
    ("scala", &["main", "apply", "unapply", "readResolve", "writeReplace"]),
    ("swift", &["main", "init", "deinit", "subscript"]),
    ("dart", &["main"]),
    ("lua", &["__*"]),
    ("zig", &["main", "panic"]),
    ("haskell", &["main"]),
];

const SCRIPT: &[&str] = &[
    "constructor",
    "toJSON",
    "toString",
    "valueOf",
    "then",
    "default",
    "connectedCallback",
    "disconnectedCallback",
    "attributeChangedCallback",
    "componentDid*",
    "componentWill*",
    "render",
    "ngOn*",
    "ngAfter*",
    "ngDo*",
];

/// Attributes, annotations and decorators that ask for no name.
pub(crate) const SILENT: &[(&str, &[&str])] = &[
    (
        "rust",
        &[
            "allow",
            "expect",
            "warn",
            "deny",
            "forbid",
            "deprecated",
            "doc",
            "cfg",
            "inline",
            "must_use",
            "repr",
            "cold",
            "track_caller",
            "non_exhaustive",
            "default",
        ],
    ),
    (
        "python",
        &[
            "staticmethod",
            "classmethod",
            "cache",
            "lru_cache",
            "functools",
            "contextmanager",
            "dataclass",
            "dataclasses",
        ],
    ),
    (
        "java",
        &[
            "SuppressWarnings",
            "Deprecated",
            "Nullable",
            "NonNull",
            "NotNull",
            "SafeVarargs",
            "FunctionalInterface",
        ],
    ),
    ("csharp", &["Obsolete", "MethodImpl"]),
    ("kotlin", &["Suppress", "Deprecated", "JvmStatic"]),
    (
        "c",
        &[
            "unused",
            "noinline",
            "always_inline",
            "noreturn",
            "nodiscard",
            "maybe_unused",
            "deprecated",
        ],
    ),
    (
        "cpp",
        &[
            "unused",
            "noinline",
            "always_inline",
            "noreturn",
            "nodiscard",
            "maybe_unused",
            "deprecated",
        ],
    ),
];

/// Traits whose derived code does not read the names of fields and variants in a way that others see.
pub(crate) const SILENT_DERIVES: &[&str] =
    &["Clone", "Copy", "Debug", "Default", "PartialEq", "Eq", "Hash", "PartialOrd", "Ord"];

/// Languages in which a text can name a definition while the program runs.
pub(crate) const REFLECTING: &[&str] = &[
    "python",
    "javascript",
    "typescript",
    "tsx",
    "vue",
    "svelte",
    "java",
    "ruby",
    "php",
    "csharp",
    "kotlin",
    "scala",
    "swift",
    "lua",
    "bash",
    "elixir",
];

/// Modules of Rust's library that hold no trait: an import from one of them brings a name and nothing else.
pub(crate) const WITHOUT_TRAITS: &[&str] = &[
    "std::collections::",
    "std::path::",
    "std::sync::",
    "std::rc::",
    "std::cell::",
    "std::time::",
    "std::thread::",
];

/// What means the function that it stands in, and its call.
pub(crate) const FRAME: &[&str] =
    &["recover", "alloca", "__builtin_alloca", "va_start", "va_arg", "va_end", "using"];

/// What means the file that it stands in.
pub(crate) const PLACES: &[&str] = &[
    "file",
    "line",
    "column",
    "module_path",
    "include",
    "include_str",
    "include_bytes",
    "__file__",
    "__name__",
    "__dirname",
    "__filename",
    "__FILE__",
    "__LINE__",
    "__DIR__",
];

/// What says of a whole file how it is read, or whether.
pub(crate) const HEADS: &[&str] = &[
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

/// What changes how the rest of a file of Rust, C or C++ is read.
pub(crate) const FROM_ABOVE: &[&str] =
    &["macro_rules!", "#[macro_use]", "#define", "#undef", "#pragma", "using namespace"];
