
// The rest is the same in the plugin of each host.
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"

const PROGRAM = "intent-lsp"

// A folder that is gone fails with the same code as a program that is not installed.
const isNotInstalled = (error, folder) =>
  error.code === "ENOENT" && !/[\\/]/.test(PROGRAM) && existsSync(folder ?? ".")
let said = false
const sayOnce = () => {
  if (!said) console.error(`${PROGRAM} is not installed here, so nothing that agents write is checked or recorded`)
  said = true
}

const hook = (payload) =>
  new Promise((resolve, reject) => {
    const fail = (why) => reject(new Error(`[HOOK_ERROR] The gate (${PROGRAM} hook) ${why}, so nothing goes ahead.`))
    const child = spawn(PROGRAM, ["hook", HOST], { cwd: payload.cwd })
    const timer = setTimeout(() => child.kill("SIGKILL"), 10_000)
    let out = ""
    let err = ""
    child.stdout.on("data", (data) => (out += data))
    child.stderr.on("data", (data) => (err += data))
    child.stdin.on("error", () => {})
    child.on("error", (error) => {
      clearTimeout(timer)
      if (!isNotInstalled(error, payload.cwd)) return fail(`could not be started: ${error.message}`)
      sayOnce()
      resolve({})
    })
    child.on("close", (code) => {
      clearTimeout(timer)
      if (code === 2 && err.trim()) return reject(new Error(err.trim()))
      if (code !== 0) return fail(`ended with ${code}`)
      try {
        resolve(out.trim() ? JSON.parse(out) : {})
      } catch {
        fail("gave no answer that can be read")
      }
    })
    child.stdin.end(JSON.stringify(payload))
  })
