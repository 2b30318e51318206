/** The product as it is started in earnest: processes of their own, killed and started again at will. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
/** On a machine busy with other tests. */
const START_TIMEOUT_MS = 240_000

export interface Launched {
  readonly process: ChildProcess
  readonly baseUrl: string
  readonly opsUrl: string
  /** Everything it wrote to standard error so far. */
  errors(): string
  /** At once, without a chance to settle anything. */
  kill(): Promise<void>
  /** In order; rejects when it did not end with 0. */
  stop(): Promise<void>
}

/**
 * Starts the built gateway, or another program that says the same ready line, on free ports; resolves with that line.
 * @param umask of the new process, in octal; the one of this process when absent
 * @param program file and arguments for Node
 */
export async function launch(
  environment: Readonly<Record<string, string>>,
  umask?: string,
  program: readonly string[] = [MAIN],
): Promise<Launched> {
  const [command, ...words] =
    umask === undefined
      ? [process.execPath, ...program]
      : ['/bin/sh', '-c', `umask ${umask}; exec "$0" "$@"`, process.execPath, ...program]
  const child = spawn(command, words, {
    env: {
      PATH: process.env['PATH'] ?? '',
      SLUICE_HOST: '127.0.0.1',
      SLUICE_PORT: '0',
      SLUICE_GATEWAY_PORT: '0',
      SLUICE_OPS_PORT: '0',
      SLUICE_LOG_LEVEL: 'warn',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString('utf8')).slice(-20_000)
  })
  const ready = await readyLine(child, () => errors)
  const ended = once(child, 'exit')
  return {
    process: child,
    baseUrl: ready.base_url,
    opsUrl: ready.ops_url,
    errors: () => errors,
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
    async stop() {
      child.kill('SIGTERM')
      const [code] = await ended
      if (code !== 0) throw new Error(`the gateway ended with ${String(code)}: ${errors}`)
    },
  }
}

interface ReadyLine {
  readonly base_url: string
  readonly ops_url: string
}

function readyLine(child: ChildProcess, errors: () => string): Promise<ReadyLine> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      child.kill('SIGKILL')
      reject(new Error(`no ready line: ${errors()}`))
    }, START_TIMEOUT_MS)
    child.once('exit', (code) => {
      clearTimeout(late)
      reject(new Error(`the gateway ended with ${String(code)} before it was ready: ${errors()}`))
    })
    if (child.stdout === null) throw new Error('no standard output')
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (!line.includes('"event":"ready"')) return
      clearTimeout(late)
      resolve(JSON.parse(line) as ReadyLine)
    })
  })
}

/** Looks again until it holds; the state of another process has no event of its own. */
export async function eventually(
  what: string,
  holds: () => Promise<boolean>,
  timeoutMs = 240_000,
): Promise<void> {
  const until = Date.now() + timeoutMs
  while (!(await holds())) {
    if (Date.now() > until) throw new Error(`never came true: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
