/** `sluice …` in this process, as a person or a script runs it in a directory of its own. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { openDataDirectory } from '../../src/config/data-directory.ts'
import { type Environment, readConfig } from '../../src/config/environment.ts'
import { instanceId } from '../../src/core/ids.ts'
import { openStorage } from '../../src/storage/open.ts'
import type { Storage } from '../../src/storage/storage.ts'
import type { Patience } from '../../src/cli/console.ts'
import { run } from '../../src/cli/run.ts'
import { TEST_TIME } from '../management/open-store.ts'

export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
  /** What went to standard output as bytes. */
  readonly bytes: Buffer
}

export interface RunOptions {
  readonly environment?: Environment
  readonly input?: string | Uint8Array
  readonly now?: () => number
  /** What happens while a command waits; undefined: it is told to stop. */
  readonly meanwhile?: () => Promise<'go on' | 'stop'>
  /** Told of what is printed as it comes. */
  readonly heard?: (text: string) => void
}

export interface CommandLine {
  readonly directory: string
  /** The store that its commands work on, made when there is none; whoever opens it closes it. */
  openStore(options?: StoreOptions): Promise<Storage>
  sluice(argv: readonly string[], options?: RunOptions): Promise<Ran>
  remove(): Promise<void>
}

export interface StoreOptions {
  /** Epoch ms. */
  readonly now?: () => number
  /** Of a PostgreSQL; absent: SQLite in the data directory. */
  readonly databaseUrl?: string | undefined
}

/** A store as `sluice` would open it beside a gateway. */
export async function openStoreIn(
  dataDir: string,
  { now = () => TEST_TIME, databaseUrl }: StoreOptions = {},
): Promise<Storage> {
  const { secretKey } = await openDataDirectory(readConfig({ SLUICE_DATA_DIR: dataDir }))
  return openStorage({
    databaseUrl,
    dataDir,
    secretKey,
    instanceId: instanceId('0190a000-0000-7000-8000-000000000001'),
    now,
    log: { warn: () => undefined },
  })
}

/** Its data lies in `data` below its directory, whatever else the environment says. */
export async function openCommandLine(environment: Environment = {}): Promise<CommandLine> {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-cli-'))
  return {
    directory,
    openStore: (options) => openStoreIn(join(directory, 'data'), options),
    async sluice(argv, { input = '', now = () => TEST_TIME, meanwhile, heard, ...change } = {}) {
      let out = ''
      let err = ''
      const output = new PassThrough()
      const bytes = buffer(output)
      const code = await run(argv, {
        environment: { SLUICE_DATA_DIR: 'data', ...environment, ...change.environment },
        workingDirectory: directory,
        now,
        out: (text) => {
          out += text
          heard?.(text)
        },
        err: (text) => {
          err += text
        },
        readInput: () => Promise.resolve(Buffer.from(input).toString('utf8')),
        input: (async function* () {
          yield Buffer.from(input)
        })(),
        output,
        patience: patienceOf(meanwhile),
      })
      output.end()
      return { code, out, err, bytes: await bytes }
    },
    remove: () => rm(directory, { recursive: true, force: true }),
  }
}

function patienceOf(meanwhile: RunOptions['meanwhile']): Patience {
  const controller = new AbortController()
  return {
    interruption: () => controller.signal,
    async pause() {
      if ((await meanwhile?.()) !== 'go on') controller.abort()
    },
  }
}
