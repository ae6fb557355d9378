// Ask an everfind server from Node, with nothing but the contracts in proto/:
//
//   EVERFIND_SERVER=localhost:50051 EVERFIND_SERVER_TOKEN=evf_… node search.mjs "how is a session renewed"
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

const contracts = process.env.EVERFIND_PROTO ?? fileURLToPath(new URL("../../proto", import.meta.url));
const everfind = grpc.loadPackageDefinition(
  loadSync("everfind/searcher/v1/searcher_service.proto", { includeDirs: [contracts], longs: Number, enums: String }),
).everfind;

const ca = process.env.EVERFIND_SERVER_CA;
const client = new everfind.searcher.v1.SearcherService(
  process.env.EVERFIND_SERVER ?? "localhost:50051",
  ca ? grpc.credentials.createSsl(readFileSync(ca)) : grpc.credentials.createInsecure(),
);

const metadata = new grpc.Metadata();
if (process.env.EVERFIND_SERVER_TOKEN) {
  metadata.set("authorization", `Bearer ${process.env.EVERFIND_SERVER_TOKEN}`);
}

// Fields that are left out have the defaults that their comments in the contract state.
const request = { query: process.argv.slice(2).join(" "), limit: 5 };
client.search(request, metadata, { deadline: Date.now() + 10_000 }, (error, answer) => {
  client.close();
  if (error) {
    console.error(`${grpc.status[error.code]}: ${error.details}`);
    process.exitCode = 1;
    return;
  }
  for (const hit of answer.hits) {
    console.log(`${hit.folder}/${hit.path}:${hit.startLine}-${hit.endLine}  ${hit.score.toFixed(4)}`);
  }
  if (answer.hits.length === 0) {
    console.error("no relevant results");
  }
});
