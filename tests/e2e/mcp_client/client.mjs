// Starts an MCP server, makes the calls it is given, and prints what came back.
// node client.mjs '{"command": "...", "args": [...], "env": {...}, "calls": [{"name": "...", "arguments": {...}}]}'
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const { calls, ...server } = JSON.parse(process.argv[2]);
const client = new Client({ name: "everfind-tests", version: "1" });
await client.connect(new StdioClientTransport({ ...server, stderr: "inherit" }));

const { tools } = await client.listTools(); // the SDK compiles each output schema, and callTool checks results by it
const results = [];
for (const call of calls) {
  const progress = [];
  const result = await client.callTool(call, undefined, { onprogress: (one) => progress.push(one.progress) });
  results.push({ ...result, progress });
}
const { resources } = await client.listResources();
const { resourceTemplates } = await client.listResourceTemplates();
const { prompts } = await client.listPrompts();
const read = await client.readResource({ uri: resources[0].uri });
console.log(
  JSON.stringify({ server: client.getServerVersion(), tools, results, resources, resourceTemplates, prompts, read }),
);
await client.close();
