"""Settings of what serves: agents, clients, and the server that is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import platformdirs
from pydantic import AfterValidator, BaseModel, Field

from everfind_gateway.setting_groups.field import STRICT, absolute_root, setting

ToolName: TypeAlias = Literal[
    "search",
    "gather",
    "related",
    "list_folders",
    "list_files",
    "cat_file",
    "grep",
    "index",
    "status",
    "search_notes",
    "codebase_search",
]
DEFAULT_TOOLS: tuple[ToolName, ...] = (
    "search",
    "gather",
    "related",
    "list_folders",
    "list_files",
    "cat_file",
    "grep",
    "index",
    "status",
)


class ServingSettings(BaseModel):
    """Agents, the server that is asked, and the one that this machine is."""

    model_config = STRICT

    mcp_name: str = setting(
        "everfind", "The MCP server's name, as hosts show it.", group="Agents", min_length=1, max_length=100
    )
    mcp_description: str = setting(
        "",
        "What the MCP server tells agents that its folders hold, such as `The wiki and decisions of team X`.",
        group="Agents",
        max_length=2_000,
    )
    mcp_tools: tuple[ToolName, ...] = setting(
        DEFAULT_TOOLS,
        "The tools that the MCP server offers, of those in [mcp.md](mcp.md). In the environment: separated by commas.",
        group="Agents",
        min_length=1,
        shown_default="all but the aliases `search_notes` and `codebase_search`",
    )
    workspace_roots: tuple[Annotated[Path, AfterValidator(absolute_root)], ...] = setting(
        (),
        "Directories below which agents may index directories that are not added; doing so adds them. Counts in the "
        "user's own file only.",
        group="Agents",
    )
    server: str = setting(
        "",
        "Ask this server (`HOST` or `HOST:PORT`) in place of the index of this machine. Its token can also come from "
        "the environment, as `EVERFIND_SERVER_TOKEN`.",
        group="Server",
    )
    server_token_file: Path | None = setting(None, "File that holds the token for `server`.", group="Server")
    server_tls: bool = setting(
        False, "Ask `server` over TLS. `server_ca` or `server_certificate` imply it.", group="Server"
    )
    server_ca: Path | None = setting(
        None,
        "Authority (PEM) that signed the certificate of `server`.",
        group="Server",
        shown_default="the usual authorities",
    )
    server_certificate: Path | None = setting(
        None, "Certificate (PEM) to show to `server`, where it asks for one.", group="Server"
    )
    server_key: Path | None = setting(None, "Private key (PEM) of `server_certificate`.", group="Server")
    server_workspace: str = setting(
        "",
        "The workspace of `server` to ask, by its name or an absolute directory in it there.",
        group="Server",
        shown_default="the server's own",
    )
    checkouts: dict[str, Annotated[Path, AfterValidator(absolute_root)]] = setting(
        dict,
        "Where folders of `server` lie on this machine, by their names, so that answers name files that can be opened "
        'here. A table: `[checkouts]`, then `api = "~/src/api"`. In the environment: `api=~/src/api,docs=~/docs`.',
        group="Server",
        shown_default="none",
    )
    local_server: bool = setting(
        True,
        "Let `everfind serve` answer searches of this user while it runs on this machine, from the same index with the "
        "same settings: it is warm.",
        group="Server",
    )
    autostart_seconds: float = setting(
        0.0,
        "Let a search on this machine that finds no server start one for the searches after it, which ends after so "
        "many seconds without a call; 0 starts none. `--no-server` starts none, either.",
        group="Server",
        ge=0,
        le=86_400,
    )
    listen: str = setting(
        "127.0.0.1:50051",
        "Where `everfind serve` listens. Beyond this machine it does not serve before a token was made.",
        group="Server",
    )
    workspaces: tuple[Annotated[str, Field(min_length=1)], ...] = setting(
        (),
        "What `serve` and `mcp` answer from besides their own workspace: named workspaces, and directories (with a "
        "`/`), of which each stands for the projects with folders of their own in it. In the environment: separated by "
        "commas.",
        group="Server",
        shown_default="none",
    )
    max_workspaces: int = setting(
        8,
        "How many of them are open at once at most; the one that was asked longest ago is closed for another.",
        group="Server",
        ge=1,
        le=1000,
    )
    folder_roots: tuple[Annotated[Path, AfterValidator(absolute_root)], ...] = setting(
        (),
        "Directories below which clients of `everfind serve` whose token has the scope `admin` may add folders. In the "
        "environment: separated by commas.",
        group="Server",
        shown_default="none: clients add no folders",
    )
    token_file: Path = setting(
        lambda: platformdirs.user_config_path("everfind") / "tokens.json",
        "File of the tokens that `everfind serve` takes, kept as hashes by `everfind token`.",
        group="Server",
        shown_default="`tokens.json` in the user's configuration directory",
    )
