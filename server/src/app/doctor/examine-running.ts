/** Health checks of a running gateway's dependencies, without calling a model. */
import type { Config, Environment } from '../../config/environment.ts'
import type { Catalogue } from '../../core/catalogue.ts'
import { type RunningCheck, type RunningFinding, unlooked } from '../../core/running-finding.ts'
import { checkMail, checkPhone } from '../../notify/check-senders.ts'
import { checkBlobs } from './blobs.ts'
import { brokenCheck } from './broken-check.ts'
import { checkDataDirectory, checkDisk, checkNode, checkSecurityLog, checkUnsettled } from './machine.ts'
import { checkOffered } from './offered.ts'
import { checkCurrencies } from './prices.ts'
import { checkSurcharges, checkUsageTold } from './usage-told.ts'

/** The checks contact the mail server and write a file, so consoles that poll every few seconds share one result. */
const FRESH_MS = 60_000

export interface RunningParts {
  readonly config: Config
  readonly environment: Environment
  readonly catalogue: () => Catalogue
  readonly now: () => number
}

/** Concurrent requests, and those within a minute, share one result. */
export function runningExaminer(parts: RunningParts): () => Promise<readonly RunningFinding[]> {
  let last: { readonly at: number; readonly findings: Promise<readonly RunningFinding[]> } | undefined
  return () => {
    const at = parts.now()
    if (last === undefined || Math.abs(at - last.at) > FRESH_MS) last = { at, findings: examine(parts) }
    return last.findings
  }
}

type Findings = readonly RunningFinding[]

/** If one check fails, the others are made all the same. */
async function examine({ config, environment, catalogue, now }: RunningParts): Promise<Findings> {
  const known = catalogue()
  const checks: readonly (readonly [RunningCheck, () => Findings | Promise<Findings>])[] = [
    ['node', () => [checkNode(process.versions.node)]],
    ['data directory', () => checkDataDirectory(config)],
    ['disk', () => [checkDisk(config.dataDirectory)]],
    ['unsettled calls', () => checkUnsettled(config.dataDirectory)],
    ['security log', () => [checkSecurityLog(config)]],
    ['stored files', async () => [await checkBlobs(config, now)]],
    ['mail', async () => [await checkMail(config)]],
    ['phone messages', async () => [await checkPhone(config, now)]],
    ['vendors', () => checkOffered(environment, known)],
    ['currencies', () => checkCurrencies(known)],
    ['stream usage', () => checkUsageTold(known)],
    ['surcharges', () => checkSurcharges(known)],
  ]
  const found = await Promise.all(
    checks.map(async ([name, look]): Promise<Findings> => {
      try {
        return await look()
      } catch (error) {
        return [unlooked(name, brokenCheck(name, error, config))]
      }
    }),
  )
  return found.flat()
}
