/** The machine: Node, the data directory, its disk. */
import { accessSync, constants, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readKeyFile, SECRET_KEY_FILE } from '../../config/data-directory.ts'
import { type Config, ConfigError } from '../../config/environment.ts'
import { isOldNode, NODE_LEAST } from '../../config/node-version.ts'
import { readUnsettled } from '../../pipeline/instance/pending/unsettled-files.ts'
import { failed, type Finding, ok, warning } from '../../core/finding.ts'

export function checkNode(version: string): Finding {
  return isOldNode(version)
    ? failed('node', version, `install Node ${NODE_LEAST} or newer`)
    : ok('node', version)
}

export async function checkDataDirectory(config: Config): Promise<readonly Finding[]> {
  const { dataDirectory, secretKey, database } = config
  const mode = modeOf(dataDirectory)
  if (mode !== undefined)
    return [usableDirectory(dataDirectory, mode), await keyFile(dataDirectory, secretKey !== undefined)]
  if (database.kind === 'postgres' && secretKey !== undefined)
    return [
      ok('data directory', `${dataDirectory} will be created when Sluice starts`),
      await keyFile(dataDirectory, true),
    ]
  return [
    failed(
      'data directory',
      `${dataDirectory} is not there`,
      'start Sluice once, or set SLUICE_DATA_DIR to where it keeps its data',
    ),
  ]
}

/** Looking at the database needs it, and one that is not there must not be made by looking. */
export function hasSecretKey({ dataDirectory, secretKey }: Config): boolean {
  return secretKey !== undefined || modeOf(join(dataDirectory, SECRET_KEY_FILE)) !== undefined
}

function usableDirectory(directory: string, mode: number): Finding {
  if (!isWritable(directory))
    return failed(
      'data directory',
      `${directory} cannot be written by this user`,
      'run as the user that owns it, or give it to this one (chown)',
    )
  if ((mode & 0o077) !== 0)
    return warning(
      'data directory',
      `${directory} is open to other users (${octal(mode)})`,
      `chmod 700 ${directory}`,
    )
  return ok('data directory', directory)
}

async function keyFile(directory: string, isGiven: boolean): Promise<Finding> {
  if (isGiven) return ok('secret key', 'SLUICE_SECRET_KEY')
  const file = join(directory, SECRET_KEY_FILE)
  const mode = modeOf(file)
  if (mode === undefined)
    return failed(
      'secret key',
      `${file} is not there`,
      'put back the one this database was made with, or set SLUICE_SECRET_KEY',
    )
  if ((mode & 0o077) !== 0)
    return failed('secret key', `${file} is open to other users (${octal(mode)})`, `chmod 600 ${file}`)
  try {
    await readKeyFile(file)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const [found = '', ...fix] = (error.mistakes[0] ?? error.message).split(': ')
    return failed('secret key', found, fix.join(': '))
  }
  return ok('secret key', file)
}

/** Only a first start reads it, and does not start without. */
export function checkGatewayFile({ gatewayFile }: Pick<Config, 'gatewayFile'>): readonly Finding[] {
  if (gatewayFile === undefined) return []
  try {
    accessSync(gatewayFile, constants.R_OK)
    return [ok('gateway file', gatewayFile)]
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    return [
      warning(
        'gateway file',
        `${gatewayFile} cannot be read (${code})`,
        'correct SLUICE_CONFIG, or unset it: a first start reads it',
      ),
    ]
  }
}

/** Looked at without writing: the file is made with the first event. */
export function checkSecurityLog({ securityLog }: Pick<Config, 'securityLog'>): Finding {
  const check = 'security log'
  if (securityLog === undefined) return ok(check, 'in the log')
  const state = statSync(securityLog, { throwIfNoEntry: false })
  const fix = 'set SLUICE_SECURITY_LOG to a file in a directory that this user may write'
  if (state !== undefined && !state.isFile()) return failed(check, `${securityLog} is not a file`, fix)
  const needed = state === undefined ? dirname(securityLog) : securityLog
  if (isWritable(needed)) return ok(check, securityLog)
  const found =
    modeOf(needed) === undefined ? `${needed} is not there` : `${needed} cannot be written by this user`
  return failed(check, found, fix)
}

const GIB = 1024 ** 3
/** Below the first calls fail soon, below the second somebody should look. */
const FREE_LEAST_BYTES = GIB / 4
const FREE_WISHED_BYTES = 2 * GIB

export function checkDisk(directory: string): Finding {
  const { bavail, bsize } = statfsSync(directory)
  return checkFree(bavail * bsize)
}

export function checkFree(bytes: number): Finding {
  const found = `${(bytes / GIB).toFixed(1)} GiB free`
  const fix = 'make room, or move the data directory to a larger disk'
  if (bytes < FREE_LEAST_BYTES) return failed('disk', found, fix)
  return bytes < FREE_WISHED_BYTES ? warning('disk', found, fix) : ok('disk', found)
}

/** Calls that a process could not settle before it stopped: they are billed at the next start on this directory. */
export async function checkUnsettled(directory: string): Promise<readonly Finding[]> {
  const { waiting, aside } = await readUnsettled(directory)
  const findings: Finding[] = []
  if (waiting.length > 0)
    findings.push(
      warning(
        'unsettled calls',
        `${waiting.join(', ')} ${waiting.length === 1 ? 'waits' : 'wait'} for the database`,
        'start Sluice on this data directory, and never delete it: what it holds was delivered and is not billed yet',
      ),
    )
  if (aside.length > 0)
    findings.push(
      warning(
        'unsettled calls',
        `${aside.join(', ')} ${aside.length === 1 ? 'holds' : 'hold'} lines that could not be settled`,
        'see docs/operating/outages.md for what to do with them',
      ),
    )
  return findings.length > 0 ? findings : [ok('unsettled calls', 'none')]
}

/** undefined: it is not there. */
function modeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mode
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false
    throw error
  }
}

function octal(mode: number): string {
  return (mode & 0o777).toString(8)
}
