import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { isPassedForm, type ProtocolId, WIRE_IDS, type WireId } from '../../../core/catalogue.ts'
import { instanceId } from '../../../core/ids.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.ts'
import { listensTo, passedForm, wireOf } from '../../../pipeline/kinds/wire.ts'
import { explain, explainParts } from '../../../pipeline/explain/explain.ts'
import { type ExplanationView, viewExplanation } from '../../../http/management/answers/explain-view.ts'
import { timeOrderedId } from '../../../management/new-id.ts'
import { createTelemetry } from '../../../telemetry/telemetry.ts'
import { VERSION } from '../../../version.ts'
import { type Console, jsonText, tableText } from '../../console.ts'
import { CommandFailure } from '../../exit-codes.ts'
import { requireKey } from '../../find-rows.ts'
import { withStorage } from '../../with-storage.ts'

export interface ExplainFlags {
  readonly file?: string
  readonly protocol?: string
  readonly stream?: boolean
  readonly gateway?: boolean
  readonly seconds?: string
  readonly json?: boolean
}

/**
 * What would happen to a call with this key, according to the stored data; the health of a running gateway's chains is
 * not known here.
 */
export async function explainCall(
  io: Console,
  reference: string,
  model: string,
  flags: ExplainFlags,
): Promise<void> {
  const protocol = readProtocol(flags.protocol)
  const soundSeconds = listensTo(protocol) ? readSeconds(flags.seconds) : undefined
  const inPath = wireOf(protocol).requests.modelPlace === 'path'
  const body = { ...(await readBody(io, flags.file, protocol)), ...(inPath ? {} : { model }) }
  const view = await withStorage(io, 'refuse', async (storage) => {
    const key = await requireKey(storage, reference)
    const account = await storage.accounts.find(key.accountId)
    if (account === undefined) throw new CommandFailure('missing', 'the account of this key no longer exists')
    const telemetry = createTelemetry({ level: 'silent', now: io.now, version: VERSION })
    const parts = await explainParts(storage, telemetry, {
      now: io.now,
      instanceId: instanceId(timeOrderedId(io.now())),
    })
    return viewExplanation(
      await explain(parts, {
        key,
        account,
        address: flags.gateway === true ? 'gateway' : 'base',
        ip: undefined,
        protocol,
        pathModel: inPath ? model : undefined,
        stream: inPath ? flags.stream === true : undefined,
        soundSeconds,
        body: Buffer.from(
          JSON.stringify(flags.stream === true && !inPath ? { ...body, stream: true } : body),
        ),
      }),
      'operator',
    )
  })
  io.out(flags.json === true ? jsonText(view) : textOf(view))
}

function readProtocol(text = 'chat'): WireId {
  const found = WIRE_IDS.find((id) => id === text)
  if (found === undefined) {
    throw new CommandFailure('mistakes', `--protocol must be one of ${WIRE_IDS.join(', ')}`)
  }
  return found
}

function readSeconds(text = '1'): number {
  const seconds = Number(text)
  if (text.trim() !== '' && Number.isFinite(seconds) && seconds >= 0) return seconds
  throw new CommandFailure('mistakes', '--seconds must be a number, how long the sound plays')
}

/** The smallest request, used if no body is given. */
const QUESTIONS: Readonly<Record<ProtocolId, JsonObject>> = {
  chat: { messages: [{ role: 'user', content: 'Hello' }] },
  responses: { input: 'Hello' },
  messages: { max_tokens: 1024, messages: [{ role: 'user', content: 'Hello' }] },
  gemini: { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] },
}

async function readBody(io: Console, file: string | undefined, protocol: WireId): Promise<JsonObject> {
  if (file === undefined) return isPassedForm(protocol) ? passedForm(protocol).smallest : QUESTIONS[protocol]
  const text = file === '-' ? await io.readInput() : await readText(io, file)
  const body = parse(text)
  if (isJsonObject(body)) return body
  throw new CommandFailure('mistakes', `${file} must hold one JSON object, the body of the call`)
}

async function readText(io: Console, file: string): Promise<string> {
  try {
    return await readFile(resolve(io.workingDirectory, file), 'utf8')
  } catch (cause) {
    throw new CommandFailure('failed', `${file} cannot be read`, { cause })
  }
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function textOf(view: ExplanationView): string {
  const { refusal, hold, estimate } = view
  const verdict =
    refusal === null
      ? `a call to ${view.model ?? '-'} would be made\n`
      : `the call would be refused: ${refusal.status}/${refusal.code} ${refusal.message}\n`
  const costs =
    hold === null || estimate === null
      ? ''
      : `about ${estimate.input_tokens} tokens in, at most ${estimate.output_tokens} out${soundText(estimate)}: ${hold.credits} Credits held, paid by ${hold.paid_by}\n`
  const windows = (hold?.windows ?? []).map((window) => [
    `${window.dimension} in ${window.seconds} s`,
    window.limit,
    window.remaining,
  ])
  return [
    verdict + costs,
    tableText(
      ['RULE', 'ASKED', 'FOUND'],
      view.rules.map(({ rule, required, found }) => [rule, required, found]),
    ),
    ...(windows.length === 0 ? [] : [tableText(['WINDOW', 'LIMIT', 'LEFT AFTER'], windows)]),
    ...view.routes.map(routeText),
  ].join('\n')
}

function soundText({ audio_seconds: seconds }: { readonly audio_seconds: number }): string {
  return seconds === 0 ? '' : `, ${seconds} seconds of sound`
}

function routeText({ model, role, chains, skipped }: ExplanationView['routes'][number]): string {
  const tried = chains.map((chain, index) => [
    index + 1,
    chain.chain_id,
    chain.vendor_code,
    chain.protocol,
    conversionText(chain.conversion),
    chain.why,
  ])
  const passed = skipped.map(({ chain_id, vendor_code, reason, last_error }) => [
    undefined,
    chain_id,
    vendor_code,
    undefined,
    undefined,
    `skipped: ${reason}${last_error === null ? '' : ` (${last_error})`}`,
  ])
  const head =
    role === 'fallback' ? `when they fail, the fallback model ${model}:\n` : `chains of ${model}:\n`
  return head + tableText(['#', 'CHAIN', 'VENDOR', 'PROTOCOL', 'CONVERSION', 'WHY'], [...tried, ...passed])
}

type Conversion = ExplanationView['routes'][number]['chains'][number]['conversion']

function conversionText({ kind, dropped, fetched, message }: Conversion): string {
  const notes = [
    ...(dropped.length === 0 ? [] : [`drops ${dropped.join(', ')}`]),
    ...(fetched.length === 0 ? [] : [`fetches ${fetched.length}`]),
    ...(message === null ? [] : [message]),
  ]
  return notes.length === 0 ? kind : `${kind} (${notes.join('; ')})`
}
