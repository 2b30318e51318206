import { NO_REPLY, type Parameters, type Reply, type Tool, type Turn } from '../conversation.ts'
import { type JsonRecord, parseJson, recordOf, recordsOf, textOf } from '../../parts/values/json.ts'
import { googleSnippet } from '../snippets.ts'
import type { ConversationKind } from './kind.ts'

export const GEMINI: ConversationKind = {
  form: 'conversation',
  id: 'gemini',
  label: 'Gemini',
  path: '/v1beta/models/{model}:generateContent',
  library: 'Google',
  snippet: googleSnippet,
  request: ({ model, turns, parameters, tools }) => ({
    path: `/v1beta/models/${encodeURIComponent(model)}:${parameters.stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: {
      contents: turns.reduce(withTurn, []),
      ...(parameters.system === '' ? {} : { systemInstruction: { parts: [{ text: parameters.system }] } }),
      ...(tools.length === 0 ? {} : { tools: [{ functionDeclarations: tools.map(toolOf) }] }),
      ...settingsOf(parameters),
    },
  }),
  readEvent: withAnswer,
  readWhole: (answer) => withAnswer(NO_REPLY, answer),
}

/** Consecutive turns of one role are joined into one content. */
function withTurn(contents: readonly JsonRecord[], turn: Turn): readonly JsonRecord[] {
  const last = contents.at(-1)
  const role = turn.by === 'model' ? 'model' : 'user'
  const parts = partsOf(turn)
  if (last?.['role'] !== role) return [...contents, { role, parts }]
  return [...contents.slice(0, -1), { role, parts: [...recordsOf(last['parts']), ...parts] }]
}

function partsOf(turn: Turn): readonly JsonRecord[] {
  const text = turn.by === 'tool' || turn.text === '' ? [] : [{ text: turn.text }]
  switch (turn.by) {
    case 'person':
      return [
        ...text,
        ...turn.pictures.map(({ type, base64 }) => ({ inlineData: { mimeType: type, data: base64 } })),
      ]
    case 'model':
      return [
        ...text,
        ...turn.calls.map(({ name, input, signature }) => ({
          functionCall: { name, args: recordOf(parseJson(input)) },
          ...(signature === undefined ? {} : { thoughtSignature: signature }),
        })),
      ]
    case 'tool':
      return [{ functionResponse: { name: turn.call.name, response: { result: turn.text } } }]
  }
}

const toolOf = (tool: Tool): JsonRecord => ({ ...tool })

function settingsOf({ temperature, topP, cap }: Parameters): JsonRecord {
  const generationConfig = {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(cap === undefined ? {} : { maxOutputTokens: cap }),
  }
  return Object.keys(generationConfig).length === 0 ? {} : { generationConfig }
}

/** Stream events and whole answers have the same format. */
function withAnswer(reply: Reply, answer: JsonRecord): Reply {
  const failure = textOf(recordOf(answer['error'])['message'])
  if (failure !== '') return { ...reply, failure }
  const [candidate] = recordsOf(answer['candidates'])
  return recordsOf(recordOf(candidate?.['content'])['parts']).reduce(withPart, reply)
}

function withPart(reply: Reply, part: JsonRecord): Reply {
  const { text, thought, functionCall, thoughtSignature: signature } = part
  if (functionCall !== undefined) {
    const { name, args = {}, id } = recordOf(functionCall)
    const call = {
      id: textOf(id) || `call_${reply.calls.length + 1}_${textOf(name)}`,
      name: textOf(name),
      input: JSON.stringify(args),
      ...(typeof signature === 'string' ? { signature } : {}),
    }
    return { ...reply, calls: [...reply.calls, call] }
  }
  if (thought === true) return { ...reply, thoughts: reply.thoughts + textOf(text) }
  return { ...reply, text: reply.text + textOf(text) }
}
