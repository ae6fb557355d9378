"""The MCP server: what agents call. Tools, resources and prompts over the ports of one workspace."""
