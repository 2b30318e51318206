import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type Mistake, printMistake } from '../../../config/gateway-file/file-node.ts'
import type { JsonObject, JsonValue } from '../../../core/json.ts'
import { type ApplyResult, applyGatewayFile } from '../../../management/gateway-file/apply-gateway-file.ts'
import type { Difference } from '../../../management/gateway-file/difference.ts'
import { readConfig } from '../../../config/environment.ts'
import { checkUsageTold } from '../../../app/doctor/usage-told.ts'
import { vendorKinds } from '../../../providers/index.ts'
import { commandLineActor } from '../../command-line-actor.ts'
import { type Console, jsonText, plural, printable, tableText } from '../../console.ts'
import { CommandFailure } from '../../exit-codes.ts'
import { withStorage } from '../../with-storage.ts'

export interface ApplyFlags {
  /** A path, or `-` for standard input. */
  readonly file: string
  readonly dryRun?: boolean
  readonly prune?: boolean
  readonly json?: boolean
}

export async function apply(io: Console, flags: ApplyFlags): Promise<void> {
  const name = flags.file === '-' ? 'standard input' : flags.file
  const text = await readGatewayFile(io, flags.file)
  const { result, usage } = await withStorage(io, 'create', async (storage) => {
    const result = await applyGatewayFile(storage, {
      text,
      environment: io.environment,
      kinds: vendorKinds,
      missing: flags.prune === true ? 'prune' : 'stays',
      phoneRegion: readConfig(io.environment, io.workingDirectory).phoneRegion,
      mode: flags.dryRun === true ? 'dry-run' : 'apply',
      at: io.now(),
      actor: commandLineActor(io),
    })
    return { result, usage: result.kind === 'applied' ? checkUsageTold(await storage.catalogue.read()) : [] }
  })
  if (flags.json === true) io.out(jsonText(resultJson(result)))
  if (result.kind === 'mistakes') {
    const told = flags.json === true ? [] : result.mistakes.map((mistake) => printMistake(name, mistake))
    const count = plural(result.mistakes.length, 'mistake')
    throw new CommandFailure('mistakes', [...told, `${name} has ${count}; nothing was applied`].join('\n'))
  }
  for (const warning of result.warnings) io.err(`warning: ${printMistake(name, warning)}\n`)
  for (const { state, found } of usage) if (state === 'warning') io.err(`warning: ${printable(found)}\n`)
  if (flags.json !== true) tell(io, result)
}

async function readGatewayFile(io: Console, file: string): Promise<string> {
  if (file === '-') return io.readInput()
  try {
    return await readFile(resolve(io.workingDirectory, file), 'utf8')
  } catch (error) {
    throw new CommandFailure('mistakes', `${file} cannot be read: ${String(error)}`, { cause: error })
  }
}

function tell(io: Console, result: Exclude<ApplyResult, { readonly kind: 'mistakes' }>): void {
  for (const difference of result.differences) io.out(differenceText(difference))
  const count = plural(result.differences.length, 'change')
  if (result.differences.length === 0) io.out('everything is as the file says\n')
  else io.out(result.kind === 'planned' ? `${count} would be made\n` : `${count} made\n`)
  if (result.newKeys.length === 0) return
  io.out('\nNew keys, shown this once:\n')
  io.out(
    tableText(
      ['ACCOUNT', 'NAME', 'KEY'],
      result.newKeys.map((key) => [key.account, key.name, key.plaintext.unwrap()]),
    ),
  )
}

const ACTION_WIDTH = 'disable'.length
const WHAT_WIDTH = 'credential'.length

/** One line per row, with its changes below. A new row's members are those in the file, so they are not repeated. */
function differenceText({ action, what, name, fields }: Difference): string {
  const line = `${action.padEnd(ACTION_WIDTH)}  ${what.padEnd(WHAT_WIDTH)}  ${printable(name)}\n`
  if (action === 'create') return line
  const indent = ' '.repeat(ACTION_WIDTH + WHAT_WIDTH + 4)
  return line + fields.map(({ field, from, to }) => `${indent}${field}: ${changeText(from, to)}\n`).join('')
}

function changeText(from: JsonValue | undefined, to: JsonValue): string {
  return from === undefined ? shortJson(to) : `${shortJson(from)} → ${shortJson(to)}`
}

function shortJson(value: JsonValue): string {
  return typeof value === 'string' ? printable(value) : printable(JSON.stringify(value))
}

function resultJson(result: ApplyResult): JsonObject {
  if (result.kind === 'mistakes') return { result: 'mistakes', mistakes: result.mistakes.map(mistakeJson) }
  return {
    result: result.kind,
    differences: result.differences.map(({ action, what, name, fields }) => ({
      action,
      what,
      name,
      fields: fields.map(({ field, from, to }) => ({ field, from: from ?? null, to })),
    })),
    warnings: result.warnings.map(mistakeJson),
    new_keys: result.newKeys.map(({ account, name, plaintext }) => ({
      account,
      name,
      key: plaintext.unwrap(),
    })),
  }
}

function mistakeJson({ place, message }: Mistake): JsonObject {
  return { line: place.line, column: place.column, path: place.path, message: message.text }
}
