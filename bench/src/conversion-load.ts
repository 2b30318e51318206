/** One large conversation from each protocol to each other: parse, decode, encode, write. */
import { performance } from 'node:perf_hooks'
import type { ProtocolId } from '../../server/src/core/catalogue.ts'
import { forwardModelId } from '../../server/src/core/ids.ts'
import type { JsonObject } from '../../server/src/core/json.ts'
import { protocolOf } from '../../server/src/core/protocols/index.ts'
import type { EncodeTarget } from '../../server/src/core/protocols/protocol.ts'
import { providerOf } from '../../server/src/providers/index.ts'

const BYTES = 1_000_000
const TURNS = 200
const TOOLS = 40
const GOAL_MS = 15
const WARM = 10
const TIMED = 20

const VENDORS: Readonly<Record<ProtocolId, string>> = {
  chat: 'openai',
  responses: 'openai',
  messages: 'anthropic',
  gemini: 'google',
}
const PROTOCOLS: readonly ProtocolId[] = ['chat', 'responses', 'messages', 'gemini']

function targetOf(protocol: ProtocolId): EncodeTarget {
  const model = forwardModelId('upstream-model')
  const capabilities = providerOf(VENDORS[protocol])?.dialects[protocol]?.capabilities(model)
  if (capabilities === undefined) throw new Error(`nobody speaks ${protocol}`)
  return { forwardModelId: model, maxOutputTokens: 8_000, capabilities, issuer: 'bench' }
}

function conversation(): JsonObject {
  const text = 'The kettle sings, "quoted", while\nthe fox jumps over 42 dogs. '
  const words = text.repeat(Math.ceil(BYTES / TURNS / text.length))
  const messages: JsonObject[] = [{ role: 'system', content: 'You are a terse assistant.' }]
  for (let turn = 0; turn < TURNS / 4; turn++) {
    const id = `call_${turn}`
    messages.push(
      { role: 'user', content: words },
      {
        role: 'assistant',
        content: words,
        tool_calls: [{ id, type: 'function', function: { name: 'tool_1', arguments: '{"path":"a.txt"}' } }],
      },
      { role: 'tool', tool_call_id: id, content: words },
      { role: 'assistant', content: words },
    )
  }
  messages.push({ role: 'user', content: 'And now?' })
  const tools = Array.from({ length: TOOLS }, (_, index) => ({
    type: 'function',
    function: {
      name: `tool_${index}`,
      description: 'Does one thing well and says what it did.',
      parameters: {
        type: 'object',
        properties: { path: { type: 'string' }, count: { type: 'integer', minimum: 1 } },
        required: ['path'],
      },
    },
  }))
  return { model: 'bench', messages, tools, max_tokens: 1_000 }
}

function convert(text: string, from: ProtocolId, to: ProtocolId): string {
  const body = JSON.parse(text) as JsonObject
  const decoded = protocolOf(from).decodeRequest(body)
  if (decoded.kind === 'refused') throw new Error(`${from}: ${decoded.field} ${decoded.message}`)
  const encoded = protocolOf(to).encodeRequest(decoded.value, targetOf(to))
  if (encoded.kind === 'refused') throw new Error(`${to}: ${encoded.field} ${encoded.message}`)
  return JSON.stringify(encoded.body)
}

const original = JSON.stringify(conversation())
let slowest = 0
process.stdout.write('| from \\ to, ms | chat | responses | messages | gemini |\n|---|---:|---:|---:|---:|\n')
for (const from of PROTOCOLS) {
  const text = from === 'chat' ? original : convert(original, 'chat', from)
  const cells = PROTOCOLS.map((to) => {
    for (let round = 0; round < WARM; round++) convert(text, from, to)
    const times = Array.from({ length: TIMED }, () => {
      const started = performance.now()
      convert(text, from, to)
      return performance.now() - started
    }).sort((one, other) => one - other)
    const median = times[TIMED / 2] ?? 0
    slowest = Math.max(slowest, median)
    return median.toFixed(2)
  })
  process.stdout.write(`| ${from} | ${cells.join(' | ')} |\n`)
}
const verdict = slowest <= GOAL_MS ? 'met' : 'MISSED'
process.stdout.write(
  `\n- ${verdict}: slowest ${slowest.toFixed(2)} ms (at most ${GOAL_MS}), ${original.length} bytes\n`,
)
