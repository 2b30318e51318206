/** The machine: Node, the data directory, its disk. */
import { accessSync, constants, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readKeyFile, SECRET_KEY_FILE } from '../../config/data-directory.ts'
import { type Config, ConfigError } from '../../config/environment.ts'
import { isOldNode, NODE_LEAST } from '../../config/node-version.ts'
import { readUnsettled } from '../../pipeline/instance/pending/unsettled-files.ts'
import { type Finding, ok, warning } from '../../core/finding.ts'
import { finding, type RunningFinding } from '../../core/running-finding.ts'
import { codeOf } from '../../core/errors/error-code.ts'

export function checkNode(version: string): RunningFinding {
  return isOldNode(version)
    ? finding('node-old', { version, least: NODE_LEAST })
    : finding('node-good', { version })
}

export async function checkDataDirectory(config: Config): Promise<readonly RunningFinding[]> {
  const { dataDirectory: directory, secretKey, database } = config
  const mode = modeOf(directory)
  if (mode !== undefined)
    return [usableDirectory(directory, mode), await keyFile(directory, secretKey !== undefined)]
  if (database.kind === 'postgres' && secretKey !== undefined)
    return [finding('directory-to-come', { directory }), finding('key-given', {})]
  return [finding('directory-missing', { directory })]
}

/** Checking the database needs the key, and a check must not create a missing one. */
export function hasSecretKey({ dataDirectory, secretKey }: Config): boolean {
  return secretKey !== undefined || modeOf(join(dataDirectory, SECRET_KEY_FILE)) !== undefined
}

function usableDirectory(directory: string, mode: number): RunningFinding {
  if (!isWritable(directory)) return finding('directory-unwritable', { directory })
  if ((mode & 0o077) !== 0) return finding('directory-open', { directory, mode: octal(mode) })
  return finding('directory-good', { directory })
}

async function keyFile(directory: string, isGiven: boolean): Promise<RunningFinding> {
  if (isGiven) return finding('key-given', {})
  const file = join(directory, SECRET_KEY_FILE)
  const mode = modeOf(file)
  if (mode === undefined) return finding('key-missing', { file })
  if ((mode & 0o077) !== 0) return finding('key-open', { file, mode: octal(mode) })
  try {
    await readKeyFile(file)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const [words = '', ...remedy] = (error.mistakes[0] ?? error.message).split(': ')
    return finding('key-unreadable', { words, remedy: remedy.join(': ') })
  }
  return finding('key-good', { file })
}

/** Only a first start reads it, and fails without it. */
export function checkGatewayFile({ gatewayFile }: Pick<Config, 'gatewayFile'>): readonly Finding[] {
  if (gatewayFile === undefined) return []
  try {
    accessSync(gatewayFile, constants.R_OK)
    return [ok('gateway file', gatewayFile)]
  } catch (error) {
    const code = codeOf(error) ?? String(error)
    return [
      warning(
        'gateway file',
        `${gatewayFile} cannot be read (${code})`,
        'correct SLUICE_CONFIG, or unset it: a first start reads it',
      ),
    ]
  }
}

/** Checked without writing: the file is created with the first event. */
export function checkSecurityLog({ securityLog: file }: Pick<Config, 'securityLog'>): RunningFinding {
  if (file === undefined) return finding('security-log-shared', {})
  const state = statSync(file, { throwIfNoEntry: false })
  if (state !== undefined && !state.isFile()) return finding('security-log-no-file', { file })
  const needed = state === undefined ? dirname(file) : file
  if (isWritable(needed)) return finding('security-log-good', { file })
  return modeOf(needed) === undefined
    ? finding('security-log-missing', { file: needed })
    : finding('security-log-unwritable', { file: needed })
}

const GIB = 1024 ** 3
/** Below the first, calls fail soon; below the second, an operator should look. */
const FREE_LEAST_BYTES = GIB / 4
const FREE_WISHED_BYTES = 2 * GIB

export function checkDisk(directory: string): RunningFinding {
  const { bavail, bsize } = statfsSync(directory)
  return checkFree(bavail * bsize)
}

export function checkFree(bytes: number): RunningFinding {
  const free = { gib: (bytes / GIB).toFixed(1) }
  if (bytes < FREE_LEAST_BYTES) return finding('disk-full', free)
  return bytes < FREE_WISHED_BYTES ? finding('disk-scarce', free) : finding('disk-good', free)
}

/** Calls that a process could not settle before it stopped: they are billed at the next start on this directory. */
export async function checkUnsettled(directory: string): Promise<readonly RunningFinding[]> {
  const { waiting, aside } = await readUnsettled(directory)
  const findings = [
    ...(waiting.length > 0 ? [finding('unsettled-waiting', { files: waiting.join(', ') })] : []),
    ...(aside.length > 0 ? [finding('unsettled-aside', { files: aside.join(', ') })] : []),
  ]
  return findings.length > 0 ? findings : [finding('unsettled-none', {})]
}

/** undefined: it does not exist. */
function modeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mode
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
    return true
  } catch (error) {
    if (codeOf(error) !== undefined) return false
    throw error
  }
}

function octal(mode: number): string {
  return (mode & 0o777).toString(8)
}
