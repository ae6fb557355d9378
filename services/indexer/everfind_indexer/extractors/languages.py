"""One table: which language a file is in, and how its lines are structured."""

from __future__ import annotations

import re
from typing import NamedTuple

from everfind_core.model import LineKind


class Form(NamedTuple):
    """A file's language (lower-case name; empty if unknown) and the structure of its lines."""

    language: str
    kind: LineKind


_CODE = {
    "python": "py pyi pyw pyx pxd pxi bzl star",
    "javascript": "js mjs cjs jsx",
    "typescript": "ts mts cts",
    "tsx": "tsx",
    "vue": "vue",
    "svelte": "svelte",
    "astro": "astro",
    "go": "go",
    "rust": "rs",
    "java": "java",
    "kotlin": "kt kts",
    "c": "c h",
    "cpp": "cc cpp cxx c++ hh hpp hxx h++ inl ipp tpp cppm ixx cu cuh ino",
    "csharp": "cs csx",
    "fsharp": "fs fsi fsx",
    "visualbasic": "vb vbs bas",
    "ruby": "rb rake gemspec ru erb",
    "php": "php phtml php5 php7",
    "swift": "swift",
    "scala": "scala sc sbt",
    "bash": "sh bash zsh ksh bats",
    "fish": "fish",
    "powershell": "ps1 psm1 psd1",
    "batch": "bat cmd",
    "lua": "lua",
    "sql": "sql ddl dml psql",
    "perl": "pl pm t",
    "r": "r",
    "julia": "jl",
    "dart": "dart",
    "groovy": "groovy gradle",
    "elixir": "ex exs",
    "erlang": "erl hrl",
    "haskell": "hs lhs",
    "ocaml": "ml mli",
    "clojure": "clj cljs cljc edn",
    "commonlisp": "lisp cl lsp",
    "elisp": "el",
    "scheme": "scm ss rkt",
    "zig": "zig",
    "nim": "nim nims",
    "crystal": "cr",
    "d": "d",
    "objectivec": "m mm",
    "pascal": "pas pp dpr",
    "fortran": "f f77 f90 f95 f03 f08 for",
    "ada": "adb ads",
    "cobol": "cob cbl",
    "assembly": "s asm",
    "verilog": "v vh sv svh",
    "vhdl": "vhd vhdl",
    "solidity": "sol",
    "move": "move",
    "glsl": "glsl vert frag geom comp wgsl hlsl metal",
    "css": "css",
    "scss": "scss sass less",
    "graphql": "graphql gql",
    "protobuf": "proto",
    "thrift": "thrift",
    "tcl": "tcl",
    "awk": "awk",
    "vim": "vim",
    "nix": "nix",
    "hcl": "tf tfvars hcl nomad",
    "cmake": "cmake",
    "make": "mk mak make",
    "dockerfile": "dockerfile containerfile",
    "latex": "tex sty cls ltx",
    "jinja": "j2 jinja jinja2",
    "gdscript": "gd",
}
_MARKDOWN = {"markdown": "md markdown mdx mdown mkd qmd rmd mdc"}
_CONFIG = {
    "json": "json jsonc json5 jsonl ndjson geojson webmanifest code-workspace tfstate",
    "yaml": "yaml yml",
    "toml": "toml",
    "ini": "ini cfg conf cnf properties env desktop service socket timer editorconfig reg",
    "xml": "xml xsd xsl xslt svg plist pom csproj vbproj fsproj props targets wsdl rng storyboard xib resx config",
    "csv": "csv tsv",
    "diff": "diff patch",
    "lock": "lock",
}
_PROSE = {
    "text": "txt text log",
    "restructuredtext": "rst rest",
    "asciidoc": "adoc asciidoc asc",
    "org": "org",
    "textile": "textile",
    "html": "html htm xhtml",
    "bibtex": "bib",
    "po": "po pot",
    "srt": "srt vtt",
}
_NAMES = {
    "dockerfile": "dockerfile containerfile",
    "make": "makefile gnumakefile bsdmakefile",
    "cmake": "cmakelists.txt",
    "ruby": "gemfile rakefile vagrantfile podfile fastfile brewfile guardfile capfile",
    "groovy": "jenkinsfile",
    "python": "sconstruct sconscript wscript snakefile",
    "starlark": "build workspace tiltfile",
    "bash": ".bashrc .bash_profile .bash_aliases .profile .zshrc .zprofile .zshenv pkgbuild .envrc",
    "vim": ".vimrc vimrc",
    "just": "justfile .justfile",
}
_CONFIG_NAMES = {
    "gomod": "go.mod go.sum go.work go.work.sum",
    "ini": ".editorconfig .gitconfig .gitmodules .npmrc .pypirc .flake8 .pylintrc .coveragerc pipfile .condarc",
    "dotenv": ".env",
    "ignore": ".gitignore .dockerignore .indexignore .npmignore .prettierignore .gitattributes codeowners",
    "json": ".eslintrc .prettierrc .babelrc .stylelintrc .jshintrc .swcrc composer.lock pipfile.lock flake.lock",
    "yaml": ".clang-format .clang-tidy .clangd",
    "toml": "cargo.lock poetry.lock uv.lock pdm.lock",
}


def _table(*groups: tuple[LineKind, dict[str, str]]) -> dict[str, Form]:
    return {
        word: Form(language, kind)
        for kind, group in groups
        for language, words in group.items()
        for word in words.split()
    }


_BY_EXTENSION = _table(
    (LineKind.PROSE, _PROSE), (LineKind.CONFIG, _CONFIG), (LineKind.MARKDOWN, _MARKDOWN), (LineKind.CODE, _CODE)
)
_BY_NAME = _table((LineKind.CONFIG, _CONFIG_NAMES), (LineKind.CODE, _NAMES))
_GUIDES = frozenset({".cursorrules", ".windsurfrules", ".clinerules", ".roorules", ".goosehints"})

_INTERPRETERS = {
    "python": "python", "pypy": "python", "bash": "bash", "sh": "bash", "zsh": "bash", "dash": "bash", "ksh": "bash",
    "fish": "fish", "node": "javascript", "nodejs": "javascript", "deno": "typescript", "bun": "typescript",
    "ts-node": "typescript", "tsx": "typescript", "ruby": "ruby", "perl": "perl", "php": "php", "lua": "lua",
    "luajit": "lua", "Rscript": "r", "julia": "julia", "awk": "awk", "gawk": "awk", "tclsh": "tcl", "make": "make",
    "pwsh": "powershell", "scala": "scala", "groovy": "groovy", "elixir": "elixir", "escript": "erlang",
    "swift": "swift", "osascript": "applescript", "nix-shell": "nix", "racket": "scheme", "guile": "scheme",
}  # fmt: skip
_SHEBANG = re.compile(r"#!\s*(\S+)(?:[ \t]+([^\n]*))?")
_VERSION = re.compile(r"[\d.]+$")
_PLAIN = Form("", LineKind.PROSE)


def classify(path: str, text: str) -> Form:
    """The form of the file at ``path`` that holds ``text``: by its name, else by its first line."""
    name = path[path.rfind("/") + 1 :]
    lowered = name.lower()
    if lowered in _GUIDES:
        return Form("markdown", LineKind.MARKDOWN)
    form = _BY_NAME.get(lowered) or _by_extension(lowered) or _by_stem(lowered) or _by_shebang(text)
    return form or _PLAIN


def _by_extension(name: str) -> Form | None:
    stem, dot, extension = name.rpartition(".")
    return _BY_EXTENSION.get(extension) if dot and stem else None


def _by_stem(name: str) -> Form | None:
    """``Dockerfile.dev``, ``Makefile.am``, ``.env.local``: the part before the last extension names the form."""
    stem = name.rpartition(".")[0]
    return _BY_NAME.get(stem) or (Form("dotenv", LineKind.CONFIG) if stem.startswith(".env") else None)


def _by_shebang(text: str) -> Form | None:
    match = _SHEBANG.match(text)
    if match is None:
        return None
    interpreter = match[1].rpartition("/")[2]
    if interpreter == "env":
        words = (match[2] or "").split()
        # Options of env, and variables that it sets.
        interpreter = next((w for w in words if not w.startswith("-") and "=" not in w), "").rpartition("/")[2]
    language = _INTERPRETERS.get(interpreter) or _INTERPRETERS.get(_VERSION.sub("", interpreter))
    return Form(language, LineKind.CODE) if language else None
