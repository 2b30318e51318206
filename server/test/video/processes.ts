/** Gateways that run as processes of their own, one generation after the other, on one store. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { run } from '../../src/cli/run.ts'
import { programPath } from '../processes/programs.ts'

const CHILD = programPath('video-gateway')
/** Longer than any lease: what the generation before held is free. */
const GENERATION_MS = 120_000
/** Vendors say ten seconds between polls. */
const PACE = 0.005

export interface GatewayProcess {
  readonly baseUrl: string
  /** `kill -9`; resolves when it is gone. */
  kill(): Promise<void>
}

export async function startProcess(
  environment: Readonly<Record<string, string>>,
  generation: number,
): Promise<GatewayProcess> {
  const child = spawn(process.execPath, [CHILD, String(generation * GENERATION_MS), String(PACE)], {
    env: {
      ...process.env,
      SLUICE_HOST: '127.0.0.1',
      SLUICE_PORT: '0',
      SLUICE_GATEWAY_PORT: '0',
      SLUICE_LOG_LEVEL: 'silent',
      SLUICE_FETCH_ALLOW: '127.0.0.1/32',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const baseUrl = await firstLine(child, gone)
  return {
    baseUrl,
    async kill() {
      child.kill('SIGKILL')
      await gone
    },
  }
}

function firstLine(child: ChildProcess, gone: Promise<void>): Promise<string> {
  const { stdout } = child
  if (stdout === null) throw new Error('the process has no output')
  return new Promise((resolve, reject) => {
    createInterface({ input: stdout }).once('line', resolve)
    child.once('error', reject)
    gone.then(
      () => reject(new Error('the gateway ended before it was ready')),
      () => undefined,
    )
  })
}

/** What the `sluice` command says as JSON. */
export async function sluice(
  environment: Readonly<Record<string, string>>,
  argv: readonly string[],
  input = '',
): Promise<unknown> {
  let out = ''
  let err = ''
  const code = await run([...argv, '--json'], {
    environment,
    workingDirectory: '/',
    now: Date.now,
    out: (text) => {
      out += text
    },
    err: (text) => {
      err += text
    },
    readInput: async () => input,
  })
  if (code !== 0) throw new Error(`sluice ${argv.join(' ')} ended with ${code}: ${err}${out}`)
  return argv[0] === 'logs'
    ? out
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
    : JSON.parse(out)
}
