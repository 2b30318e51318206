/** The sandbox in the Gemini protocol. */
import type { JsonObject, JsonValue } from '../../../core/json.ts'
import type { OfflineChunk } from '../../../core/offline-answer.ts'
import type { Reply } from './compose.ts'
import { pace } from './pace.ts'
import {
  object,
  objects,
  positive,
  type Prompt,
  type PromptFormat,
  type PromptToolChoice,
  strings,
  text,
  textOf,
  type ToolResult,
  wordsBelow,
} from './prompt.ts'
import { piecesOf } from '../tokens.ts'
import type { Stamp, Voice } from './voice.ts'

export const geminiVoice: Voice = {
  readPrompt,
  whole: (reply, stamp, body) => ({
    candidates: [{ content: { role: 'model', parts: partsOf(reply, stamp, body) }, ...endOf(reply) }],
    usageMetadata: usageOf(reply, reply.usage),
    ...identity(reply, stamp),
  }),
  stream,
  count: (inputTokens) => ({ totalTokens: inputTokens }),
  error: (message, status) => ({
    error: { code: status, message, status: STATUS_WORDS[status] ?? 'INVALID_ARGUMENT' },
  }),
}

const STATUS_WORDS: Readonly<Record<number, string>> = { 404: 'NOT_FOUND' }

function readPrompt(body: JsonObject): Prompt {
  // The counting call may wrap the whole request.
  const request = body['contents'] === undefined ? object(body['generateContentRequest']) : body
  const contents = typeof request['contents'] === 'string' ? [] : objects(request['contents'])
  const lastUser = contents.findLastIndex(
    (content) => content['role'] !== 'model' && textOf(content['parts']) !== '',
  )
  const lastResults = contents.findLastIndex((content) => responsesIn(content).length > 0)
  const parts = contents[lastUser]?.['parts']
  const settings = object(request['generationConfig'])
  return {
    read: [
      ...wordsBelow(request['systemInstruction']),
      ...wordsBelow(request['contents']),
      ...wordsBelow(request['tools']),
    ],
    lastUserText: textOf(parts),
    attachments: objects(parts).filter((part) => part['inlineData'] ?? part['fileData']).length,
    toolResults: lastResults >= lastUser ? responsesIn(contents[lastResults]) : [],
    tools: objects(request['tools'])
      .flatMap((tool) => objects(tool['functionDeclarations']))
      .map((tool) => ({
        name: text(tool['name']),
        kind: 'function',
        schema: tool['parametersJsonSchema'] ?? tool['parameters'],
      })),
    toolChoice: choiceOf(object(object(request['toolConfig'])['functionCallingConfig'])),
    parallelToolCalls: true,
    maxOutputTokens: positive(settings['maxOutputTokens']),
    stop: strings(settings['stopSequences']),
    format: formatOf(settings),
    reasoning: object(settings['thinkingConfig'])['thinkingBudget'] !== 0,
    // The path determines it, not the body.
    stream: false,
  }
}

function responsesIn(content: JsonObject | undefined): readonly ToolResult[] {
  return objects(content?.['parts'])
    .map((part) => object(part['functionResponse']))
    .filter((response) => text(response['name']) !== '')
    .map((response) => ({ name: text(response['name']), text: resultText(object(response['response'])) }))
}

function resultText(response: JsonObject): string {
  const said = response['output'] ?? response['result'] ?? response['error'] ?? response
  return typeof said === 'string' ? said : JSON.stringify(said)
}

function choiceOf(config: JsonObject): PromptToolChoice {
  if (config['mode'] === 'NONE') return { kind: 'none' }
  if (config['mode'] !== 'ANY') return { kind: 'auto' }
  const [only, ...others] = strings(config['allowedFunctionNames'])
  return only !== undefined && others.length === 0 ? { kind: 'tool', name: only } : { kind: 'required' }
}

function formatOf(settings: JsonObject): PromptFormat {
  if (settings['responseMimeType'] !== 'application/json') return { kind: 'text' }
  const schema: JsonValue | undefined = settings['responseJsonSchema'] ?? settings['responseSchema']
  return schema === undefined ? { kind: 'json' } : { kind: 'json-schema', schema }
}

/** In place of a provider's signature: base64, opaque to clients. */
const THOUGHT_SIGNATURE = 'c2FuZGJveC10aG91Z2h0'

function partsOf(reply: Reply, stamp: Stamp, body: JsonObject): readonly JsonObject[] {
  const signed = reply.reasoning === undefined ? {} : { thoughtSignature: THOUGHT_SIGNATURE }
  const thoughts = showsThoughts(body) ? [reply.reasoning].filter((thought) => thought !== undefined) : []
  return [
    ...thoughts.map((thought) => ({ text: thought, thought: true })),
    ...(reply.text === '' ? [] : [{ text: reply.text, ...signed }]),
    ...reply.calls.map((call, index) => ({
      functionCall: { id: `call_${stamp.id}_${index}`, name: call.name, args: call.json },
      // Of parallel calls only the first carries it.
      ...(index === 0 ? signed : {}),
    })),
  ]
}

function showsThoughts(body: JsonObject): boolean {
  return object(object(body['generationConfig'])['thinkingConfig'])['includeThoughts'] === true
}

/** Counters grow with every chunk; the last event has the final ones, and the finish reason. */
function* stream(reply: Reply, stamp: Stamp, body: JsonObject): Generator<OfflineChunk> {
  const event = (parts: readonly JsonObject[], output: number, end: JsonObject = {}): OfflineChunk =>
    pace(
      `data: ${JSON.stringify({
        candidates: [{ content: { role: 'model', parts }, ...end, index: 0 }],
        usageMetadata: usageOf(reply, { output, reasoning: Math.min(output, reply.usage.reasoning) }),
        ...identity(reply, stamp),
      })}\r\n\r\n`,
    )
  let output = 0
  if (reply.reasoning !== undefined && showsThoughts(body)) {
    for (const piece of piecesOf(reply.reasoning)) {
      output += 1
      yield event([{ text: piece, thought: true }], output)
    }
  }
  output = reply.usage.reasoning
  for (const piece of piecesOf(reply.text)) {
    output += 1
    yield event([{ text: piece }], output)
  }
  // Calls are sent whole, the finish reason in a later chunk with an empty text.
  for (const part of partsOf({ ...reply, text: '', reasoning: undefined }, stamp, body)) {
    const first = output === reply.usage.reasoning && reply.reasoning !== undefined
    yield event([first ? { ...part, thoughtSignature: THOUGHT_SIGNATURE } : part], reply.usage.output)
    output = reply.usage.output
  }
  const signed =
    reply.reasoning === undefined || reply.calls.length > 0 ? {} : { thoughtSignature: THOUGHT_SIGNATURE }
  yield event([{ text: '', ...signed }], reply.usage.output, endOf(reply))
}

function endOf(reply: Reply): JsonObject {
  return { finishReason: reply.finish === 'length' ? 'MAX_TOKENS' : 'STOP', index: 0 }
}

function identity(reply: Reply, stamp: Stamp): JsonObject {
  return { modelVersion: reply.model, responseId: stamp.id }
}

/** Thoughts are counted separately from the candidates. */
function usageOf(reply: Reply, soFar: { readonly output: number; readonly reasoning: number }): JsonObject {
  const { input } = reply.usage
  return {
    promptTokenCount: input,
    candidatesTokenCount: soFar.output - soFar.reasoning,
    ...(reply.reasoning === undefined ? {} : { thoughtsTokenCount: soFar.reasoning }),
    totalTokenCount: input + soFar.output,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: input }],
  }
}
