"""Names that decide by themselves: directories of tools, agent guides, binary extensions."""

from __future__ import annotations

from everfind_indexer.extractors import claims

TOOL_DIRECTORIES = frozenset(
    {
        # Version control: the history, not the work.
        b".hg", b".svn", b".bzr", b".jj", b".sl", b"_darcs",
        # Installed packages. `vendor`, `lib`, `dist`, `build`, `target`, `output` and `env` are missing on purpose:
        # people give these names to what they write.
        b"node_modules", b"bower_components", b".venv", b".pnpm-store", b".yarn", b".bundle", b".eggs",
        # Caches and build trees whose name no person would choose for anything else.
        b"__pycache__", b"__pypackages__", b".mypy_cache", b".pytest_cache", b".ruff_cache", b".pytype", b".hypothesis",
        b".tox", b".nox", b".ipynb_checkpoints", b".gradle", b".terraform", b".next", b".nuxt", b".svelte-kit",
        b".parcel-cache", b".turbo", b".nyc_output", b".dart_tool", b".stack-work", b".cache",
        # A desktop's own.
        b".Trash", b".Trashes", b".Spotlight-V100", b".fseventsd",
    }
)  # fmt: skip
"""Directories that a walk outside git leaves out, by name below the folder; `.indexignore` can bring them back."""

CACHE_TAG = b"CACHEDIR.TAG"
CACHE_SIGNATURE = b"Signature: 8a477f597d28d172789f06886806bc55"
"""What a tool puts into a directory that it can make again (bford.info/cachedir); Cargo's `target` has it."""

VIRTUAL_ENVIRONMENT = b"pyvenv.cfg"
"""Marks a Python environment under whatever name (PEP 405)."""

_GUIDE_NAMES = frozenset(
    {
        b"AGENTS.md", b"AGENT.md", b"AGENTS.override.md", b"CLAUDE.md", b"CLAUDE.local.md", b"GEMINI.md", b"QWEN.md",
        b".cursorrules", b".windsurfrules", b".clinerules", b".roorules", b".goosehints",
    }
)  # fmt: skip
_GUIDE_PATHS = (b".github/copilot-instructions.md", b".junie/guidelines.md")

BINARY_EXTENSIONS = frozenset(
    b"""
    png jpg jpeg jpe gif bmp tif tiff webp ico icns heic heif avif jxl psd psb xcf cr2 nef arw dng indd sketch
    blend fbx 3ds glb dds tga exr hdr
    mp3 wav flac ogg oga opus m4a aac wma aiff aif mid midi
    mp4 m4v mov avi mkv webm wmv flv mpg mpeg 3gp ogv vob
    zip gz tgz bz2 tbz2 xz txz lzma lz4 zst 7z rar tar cab cpio ar jar war ear apk aab ipa whl egg gem nupkg
    crate deb rpm dmg iso img msi appimage vsix xpi
    pdf doc docx docm dotx xls xlsx xlsm xlsb ppt pptx pptm odt ods odp odg epub mobi azw3 djvu
    exe dll so dylib o a ko elf bin class pyc pyo pyd wasm beam dex rlib rmeta pdb
    ttf otf woff woff2 eot pfb pfm
    db sqlite sqlite3 db3 mdb accdb ibd myd myi ldb parquet orc avro arrow feather lance h5 hdf5 npy npz rds
    rdata pkl pickle joblib pth ckpt safetensors onnx tflite gguf ggml mlmodel caffemodel msgpack
    pcap pcapng swf jks p12 pfx keystore gpg qm
    """.split()
)
"""Extensions (lower case, no dot) of files that hold no text but for an extractor that claims them.

What text files share is left to the content.
"""


def is_agent_guide(path: bytes) -> bool:
    """Whether the file at ``path`` tells agents about its project: indexed even where git ignores it."""
    name = path[path.rfind(b"/") + 1 :]
    return name in _GUIDE_NAMES or any(path == p or path.endswith(b"/" + p) for p in _GUIDE_PATHS)


def has_binary_extension(name: bytes) -> bool:
    """Whether ``name`` alone tells that the file holds no text that an extractor can get at."""
    stem, dot, extension = name.lower().rpartition(b".")
    return bool(dot) and bool(stem) and extension in BINARY_EXTENSIONS and not claims(extension.decode())
