import { type Config, ConfigError, readConfig } from '../../../config/environment.ts'
import { type Console, jsonText, plural, tableText } from '../../console.ts'
import { checkOffered } from '../../../app/doctor/offered.ts'
import { checkCredentials } from '../../doctor/credentials.ts'
import { checkCurrencies } from '../../../app/doctor/prices.ts'
import { checkDatabase } from '../../doctor/database.ts'
import { brokenCheck, wordsOf } from '../../../app/doctor/broken-check.ts'
import { failed, type Finding, ok, skipped, warning } from '../../../core/finding.ts'
import {
  checkDataDirectory,
  checkDisk,
  checkGatewayFile,
  checkNode,
  checkSecurityLog,
  checkUnsettled,
  hasSecretKey,
} from '../../../app/doctor/machine.ts'
import { checkBlobs } from '../../../app/doctor/blobs.ts'
import { checkMail, checkPhone } from '../../../notify/check-senders.ts'
import { checkSurcharges, checkUsageTold } from '../../../app/doctor/usage-told.ts'
import { checkPorts } from '../../doctor/ports.ts'
import { CommandFailure } from '../../exit-codes.ts'
import { storageOptions, withStorage } from '../../with-storage.ts'

export interface DoctorFlags {
  /** False: no calls to vendors are made. */
  readonly credentials: boolean
  readonly json?: boolean
}

/** Checks everything a gateway depends on, and says how to fix what it finds. Changes nothing. */
export async function doctor(io: Console, flags: DoctorFlags): Promise<void> {
  const findings = await examine(io, flags)
  if (flags.json === true)
    io.out(
      jsonText(findings.map(({ check, state, found, fix }) => ({ check, state, found, fix: fix ?? null }))),
    )
  else {
    const rows = findings.map(({ check, state, found, fix }) => [check, state, found, fix])
    io.out(tableText(['CHECK', 'STATE', 'FOUND', 'WHAT TO DO'], rows))
  }
  const count = (state: Finding['state']) => findings.filter((finding) => finding.state === state).length
  if (count('failed') > 0) throw new CommandFailure('failed', `${plural(count('failed'), 'check')} failed`)
  const warnings = count('warning')
  io.err(warnings === 0 ? 'all is well\n' : `no check failed; ${plural(warnings, 'warning')}\n`)
}

async function examine(io: Console, flags: DoctorFlags): Promise<readonly Finding[]> {
  const findings: Finding[] = [checkNode(process.versions.node)]
  const config = readOrTell(io, findings)
  if (config === undefined) return findings
  /** If one check fails, the others are made all the same. */
  const check = async (name: string, look: () => Findings | Promise<Findings>): Promise<Findings> => {
    try {
      return await look()
    } catch (error) {
      return [brokenCheck(name, error, config)]
    }
  }
  const directory = await check('data directory', () => checkDataDirectory(config))
  findings.push(...directory)
  const hasDirectory = directory.some(isUsableDirectory)
  if (hasDirectory) {
    findings.push(...(await check('disk', () => [checkDisk(config.dataDirectory)])))
    findings.push(...(await check('unsettled calls', () => checkUnsettled(config.dataDirectory))))
  }
  findings.push(...(await check('gateway file', () => checkGatewayFile(config))))
  findings.push(...(await check('security log', () => [checkSecurityLog(config)])))
  const database = await check('database', () => databaseFindings(io, config, hasDirectory))
  findings.push(...database)
  if (hasDirectory || config.blob.kind === 's3') findings.push(await checkBlobs(config, io.now))
  findings.push(...(await check('mail', async () => [await checkMail(config)])))
  findings.push(...(await check('phone messages', async () => [await checkPhone(config, io.now)])))
  findings.push(...(await check('ports', () => checkPorts(config))))
  findings.push(...(await check('catalogue', () => catalogueFindings(io, flags, database))))
  return findings
}

type Findings = readonly Finding[]

const isUsableDirectory = ({ check, state }: Finding): boolean =>
  check === 'data directory' && state !== 'failed'

function databaseFindings(io: Console, config: Config, hasDirectory: boolean): Findings | Promise<Findings> {
  if (!hasDirectory && config.database.kind === 'sqlite')
    return [skipped('database', 'waits until the data directory can be used')]
  if (!hasSecretKey(config)) return [skipped('database', 'needs the secret key')]
  return checkDatabase(config, () => storageOptions(io, config))
}

function readOrTell(io: Console, findings: Finding[]): Config | undefined {
  try {
    const config = readConfig(io.environment, io.workingDirectory)
    findings.push(
      config.warnings.length === 0
        ? ok('configuration', 'every variable is understood')
        : warning('configuration', config.warnings.join('; '), 'correct the name, or unset it'),
    )
    return config
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    findings.push(
      ...error.mistakes.map((mistake) =>
        failed('configuration', mistake, 'set it as docs/reference/configuration.md says'),
      ),
    )
    return undefined
  }
}

/** The catalogue is only read from a database without findings, because opening an older one would migrate it. */
async function catalogueFindings(
  io: Console,
  { credentials }: DoctorFlags,
  database: readonly Finding[],
): Promise<readonly Finding[]> {
  if (
    database.some(
      ({ check, state }) =>
        state === 'failed' || state === 'skipped' || (check === 'schema' && state !== 'ok'),
    )
  )
    return [skipped('credentials', 'waits until the database can be used')]
  try {
    const catalogue = await withStorage(io, 'refuse', (storage) => storage.catalogue.read())
    return [
      ...(credentials ? await checkCredentials(io, catalogue) : [skipped('credentials', 'not asked')]),
      ...checkOffered(io.environment, catalogue),
      ...checkCurrencies(catalogue),
      ...checkUsageTold(catalogue),
      ...checkSurcharges(catalogue),
    ]
  } catch (error) {
    return [
      failed('catalogue', wordsOf(error), 'see the log of the gateway; sluice verify tells about balances'),
    ]
  }
}
