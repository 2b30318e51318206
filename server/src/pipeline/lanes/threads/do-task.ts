/** The work of a conversion thread: the same functions that convert small bodies, between bytes and bytes. */
import { replaysSignatures } from '../../../core/canonical/signatures.ts'
import { cutResponse } from '../../../core/canonical/stop-sequences.ts'
import type { CanonicalRequest, Tool } from '../../../core/canonical/request.ts'
import type { CanonicalResponse } from '../../../core/canonical/response.ts'
import { NO_USAGE } from '../../../core/canonical/usage.ts'
import { chainProtocolOf, type WireId } from '../../../core/catalogue.ts'
import { isJsonObject, type JsonValue } from '../../../core/json.ts'
import { codecOf, keepsAnswers, protocolOf } from '../../../core/protocols/index.ts'
import { echoOf } from '../../../core/protocols/responses/answer/response-object.ts'
import { dialectForClient, providerOf } from '../../../providers/index.ts'
import type { PassedDialect, Provider, WireDialect } from '../../../providers/provider.ts'
import { clientInput, encodePrepared, prepareConversion, unkept } from '../convert-request.ts'
import { parseJson } from '../../attempt/classify.ts'
import { editBody, rewriteAnswer, rewriteBody } from '../edit-body.ts'
import { refusalOf } from '../refusal.ts'
import { answerText, countImages } from './answer-text.ts'
import { bytesOf } from './bytes-of.ts'
import { readFarOrder, submitFar } from './order-tasks.ts'
import { measureSounds } from './sound/measure-sounds.ts'
import { findItems, readPast } from './read-past.ts'
import { showKept } from './show-kept.ts'
import { sentFiles } from './read-form.ts'
import type {
  AnswerTask,
  EditTask,
  FormTask,
  PastRead,
  RequestTask,
  RewriteTask,
  Task,
  TaskResult,
} from './work.ts'

/** Far more tools than any vendor accepts; each one makes every answer a little more expensive. */
const TOOLS_MAX = 4_096
/** Text that is counted exactly; the rest is extrapolated. */
const COUNTED_CHARACTERS_MAX = 262_144
/** Limit for an upstream's own error. */
const ERROR_CHARACTERS_MAX = 1_048_576

/** Counts the tokens of a text of at most 256 Ki characters. */
export type CountTokens = (text: string) => Promise<number>

/** Never throws for invalid input of a client or an upstream; that is a result. */
export async function doTask(task: Task, count: CountTokens): Promise<TaskResult> {
  switch (task.kind) {
    case 'request':
      return convertRequest(task)
    case 'edit':
      return editRequest(task)
    case 'form':
      return rewriteForm(task)
    case 'past':
      return inSharedMemory(readPast(task))
    case 'items':
      return findItems(task)
    case 'answer':
      return convertAnswer(task, count)
    case 'rewrite':
      return rewriteAnswerOf(task)
    case 'order':
      return readFarOrder(task)
    case 'submit':
      return submitFar(task)
    case 'show':
      return showKept(task)
    case 'measure':
      return measureSounds(task)
  }
}

/** A conversation is passed on to another task without another copy. */
function inSharedMemory(past: PastRead): PastRead {
  const items = new Uint8Array(new SharedArrayBuffer(past.items.byteLength))
  items.set(past.items)
  return { ...past, items }
}

function convertRequest(task: RequestTask): TaskResult {
  const { target, sources, stream } = task
  const dialect = dialectOf(target.vendorKind, codecOf(target.chain.protocol).id)
  const body = { chunks: [task.body], memo: {} }
  const call = {
    endpoint: { protocol: task.client },
    body,
    ...(task.past === undefined ? {} : { past: { kind: 'kept' as const, ids: [], bytes: task.past } }),
    scan: { previousResponseId: task.previousResponseId },
    stream,
  }
  const prepared = prepareConversion(call, target, dialect)
  if (prepared.kind === 'refused') return refused(prepared.failure)
  if (prepared.asked.tools.length > TOOLS_MAX)
    return refused({ message: `at most ${TOOLS_MAX} tools can be converted`, details: undefined })
  if (prepared.remote.length > 0 && sources === undefined) return { kind: 'media', remote: prepared.remote }
  const converted = encodePrepared(prepared, target, dialect, sources ?? new Map())
  if (converted.kind === 'refused') return refused(converted.failure)
  const { asked, request, issuer } = prepared
  return {
    kind: 'converted',
    body: bytesOf(editBody(converted.body, dialect)),
    dropped: converted.dropped,
    cutAt: converted.cutAt,
    sentExtras: converted.sentExtras,
    replays: replaysSignatures(request, { protocol: dialect.protocol, issuer }),
    issuer,
    asked: forAnswers(asked),
    echo: keepsAnswers(task.client) ? JSON.stringify(echoOf(task.keeps ? asked : unkept(asked))) : undefined,
    input: task.keeps ? inputText(clientInput({ body })) : undefined,
  }
}

function inputText(input: ReturnType<typeof clientInput>): string {
  return typeof input === 'string' ? input : JSON.stringify(input)
}

function refused({
  message,
  details,
}: Pick<Extract<TaskResult, { kind: 'refused' }>, 'message' | 'details'>): TaskResult {
  return { kind: 'refused', message, details }
}

/** What encoders of answers need: settings and the names of tools. Conversations and schemas stay in the thread. */
function forAnswers(asked: CanonicalRequest): CanonicalRequest {
  return {
    ...asked,
    system: [],
    turns: [],
    tools: asked.tools.map(nameOnly),
    toolChoice: undefined,
    stop: [],
    output: { kind: 'text' },
    user: undefined,
    metadata: undefined,
    promptCacheKey: undefined,
  }
}

function nameOnly(tool: Tool): Tool {
  switch (tool.type) {
    case 'function': {
      const { name, namespace } = tool
      return {
        type: 'function',
        name,
        namespace,
        description: undefined,
        parameters: undefined,
        strict: undefined,
      }
    }
    case 'custom':
      return { ...tool, description: undefined, grammar: undefined }
    case 'hosted':
      return { ...tool, json: {} }
  }
}

function editRequest({ body, vendorKind, protocol, path, forwardModelId }: EditTask): TaskResult {
  const parsed = parseJson(body)
  if (!isJsonObject(parsed)) throw new Error('a scanned body is no JSON object')
  const dialect = spokenDialectOf(vendorKind, protocol, path)
  const refused = refusalOf({ fields: parsed, files: [], soundSeconds: 0 }, dialect, {
    model: forwardModelId,
    path,
  })
  if (refused !== undefined) return { kind: 'refused', message: refused, details: undefined }
  const { dropped, context, ...rewritten } = rewriteBody(parsed, dialect, forwardModelId)
  return { kind: 'edited', body: bytesOf(rewritten.body), dropped, context }
}

function rewriteForm({ form, vendorKind, protocol, forwardModelId, ...bytes }: FormTask): TaskResult {
  const dialect = spokenDialectOf(vendorKind, protocol)
  const sent = sentFiles(form, bytes)
  const { body, dropped, context } = rewriteBody(form.fields, dialect, forwardModelId, sent)
  return { kind: 'edited', body: bytesOf(body), dropped, context }
}

function rewriteAnswerOf({ body, vendorKind, protocol, context }: RewriteTask): TaskResult {
  const { rewrite } = spokenDialectOf(vendorKind, protocol)
  const answer = rewrite && rewriteAnswer(body, rewrite, context)
  return answer === undefined ? { kind: 'unreadable' } : { kind: 'rewritten', answer }
}

async function convertAnswer(task: AnswerTask, count: CountTokens): Promise<TaskResult> {
  const client = protocolOf(task.client)
  const upstream = protocolOf(task.upstream)
  const body = parseJson(task.body)
  if (body === undefined) return { kind: 'unreadable' }
  if (isJsonObject(body) && body['error'] !== undefined && body['error'] !== null)
    return upstreamError(upstream.decodeError(undefined, body))
  const response = upstream.decodeResponse(body)
  if (response.failure !== undefined) return upstreamError(response.failure)
  const outputTokens = response.usage === undefined ? await countText(response, count) : 0
  const estimated = { ...NO_USAGE, input: task.inputTokensEstimate, output: outputTokens }
  const whole = cutResponse({ ...response, usage: response.usage ?? estimated }, task.cutAt)
  return {
    kind: 'answered',
    body: bytesOf(client.encodeResponse(whole, task.context)),
    usage: response.usage,
    outputTokens,
    images: countImages(response.candidates),
  }
}

function upstreamError({
  status,
  raw,
}: {
  readonly status: number | undefined
  readonly raw: JsonValue
}): TaskResult {
  const told = JSON.stringify(raw).length <= ERROR_CHARACTERS_MAX ? raw : null
  return { kind: 'upstream-error', status, raw: told }
}

async function countText({ candidates }: CanonicalResponse, count: CountTokens): Promise<number> {
  let text = ''
  let characters = 0
  for (const piece of answerText(candidates)) {
    characters += piece.length
    if (text.length < COUNTED_CHARACTERS_MAX) text += piece.slice(0, COUNTED_CHARACTERS_MAX - text.length)
  }
  if (characters === 0) return 0
  return Math.ceil(((await count(text)) * characters) / text.length)
}

function dialectOf<Id extends WireId>(vendorKind: string, protocol: Id) {
  const dialect: Provider['dialects'][Id] | undefined = providerOf(vendorKind)?.dialects[protocol]
  if (dialect === undefined) throw new Error(`the vendor kind ${vendorKind} does not speak ${protocol}`)
  return dialect
}

/** The same for a client of this protocol, whatever chain answers it. `path` absent: the dialect that rewrites. */
function spokenDialectOf(
  vendorKind: string,
  client: WireId,
  path?: string,
): WireDialect & Pick<PassedDialect, 'rewrite'> {
  return dialectForClient(dialectOf(vendorKind, chainProtocolOf(client)), client, path)
}
