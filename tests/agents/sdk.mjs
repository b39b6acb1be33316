// The client of the TypeScript SDK: it starts an MCP server, makes the calls that it gets on standard input, and prints
// all answers. It checks structured results against the output schemas of the tools, and throws an error if they
// differ.
//
//   node sdk.mjs MODULES COMMAND ARGUMENT… < calls.json
import { pathToFileURL } from "node:url"
import path from "node:path"
import fs from "node:fs"

const [modules, command, ...args] = process.argv.slice(2)
const load = name => import(pathToFileURL(path.join(modules, "@modelcontextprotocol/sdk/dist/esm/client", name)))
const { Client } = await load("index.js")
const { StdioClientTransport } = await load("stdio.js")

const client = new Client({ name: "lab", version: "0" })
await client.connect(new StdioClientTransport({ command, args, env: process.env, cwd: process.cwd() }))
// The client learns the output schemas from the list of tools.
const answers = { server: client.getServerVersion(), tools: (await client.listTools()).tools, calls: [] }
for (const call of JSON.parse(fs.readFileSync(0, "utf8"))) {
  answers.calls.push(await client.callTool({ name: call.tool, arguments: call.arguments }))
}
await client.close()
process.stdout.write(JSON.stringify(answers))
