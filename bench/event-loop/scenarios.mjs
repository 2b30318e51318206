/**
 * What is sent to the gateway to see how long it keeps the event loop: to converted (`c`) and passed (`p`) models, to a
 * model of two chains (`two`), to one that answers in the background (`r`) and to video models (`v`, `form`).
 */
import { setTimeout as pause } from 'node:timers/promises'

const MIB = 1024 * 1024

const text = (bytes) =>
  'All work and no play makes a dull gateway. '.repeat(Math.ceil(bytes / 43)).slice(0, bytes)
const chat = (model, extra) => `{"model":"${model}",${extra}}`
const user = (content) => `"messages":[{"role":"user","content":${content}}]`
const keys = (count) => Array.from({ length: count }, (_, at) => `"key${at}":${at % 10}`).join(',')
const toolTurn = (at) =>
  `{"role":"assistant","tool_calls":[{"id":"call_${at}","type":"function","function":{"name":"look","arguments":"{\\"at\\":${at}}"}}]},{"role":"tool","tool_call_id":"call_${at}","content":"found"}`
const toolTurns = (count) => Array.from({ length: count }, (_, at) => toolTurn(at)).join(',')
const base64 = (bytes) => Buffer.alloc((bytes * 3) / 4, 7).toString('base64')
const image = (bytes) =>
  user(`[{"type":"image_url","image_url":{"url":"data:image/png;base64,${base64(bytes)}"}}]`)
const tool = (members) =>
  `"tools":[{"type":"function","function":{"name":"look","parameters":{"type":"object","properties":{${keys(members)}}}}}]`

/**
 * Each gives what is sent; `times` at once. `before(send)` is done ahead of the measure and may add to it; `leaveAfterMs`:
 * the client goes away; `settleMs`: what is measured goes on after the answer.
 */
export const SCENARIOS = {
  'a million unknown members, gzipped': () => ({
    body: chat('c', `${keys(1_000_000)},${user('"hi"')}`),
    gzip: true,
  }),
  'as many members as may be': () => ({ body: chat('c', `${keys(499_000)},${user('"hi"')}`) }),
  'a hundred thousand tool turns, 18 MB': () => ({ body: chat('c', `"messages":[${toolTurns(100_000)}]`) }),
  'as many tool turns as may be': () => ({ body: chat('c', `"messages":[${toolTurns(24_900)}]`) }),
  'a tool schema of 400 000 members': () => ({ body: chat('c', `${user('"hi"')},${tool(400_000)}`) }),
  'the same to responses': () => ({
    path: '/v1/responses',
    body: chat(
      'c',
      `"input":"hi","tools":[{"type":"function","name":"look","parameters":{"type":"object","properties":{${keys(400_000)}}}}]`,
    ),
  }),
  'deep nesting': () => ({ body: chat('c', `${user('"hi"')},"a":${'['.repeat(190)}${']'.repeat(190)}`) }),
  'a text of 90 MiB': () => ({ body: chat('c', user(JSON.stringify(text(90 * MIB)))) }),
  'a text of 20 MiB that is not Latin': () => ({
    body: chat('c', user(JSON.stringify('学'.repeat(7 * MIB)))),
  }),
  'a picture of 20 MiB': () => ({ body: chat('c', image(20 * MIB)) }),
  'an array of 490 000 numbers': () => ({
    body: chat('c', `${user('"hi"')},"n":[${'1,'.repeat(489_999)}1]`),
  }),
  'a bomb: 90 MiB in 90 kB': () => ({
    body: chat('c', user(JSON.stringify('a'.repeat(90 * MIB)))),
    gzip: true,
  }),
  'passed: a text of 99 MiB': () => ({ body: chat('p', user(JSON.stringify(text(99 * MIB)))) }),
  'passed: as many members as may be': () => ({ body: chat('p', `${keys(499_000)},${user('"hi"')}`) }),
  '40 bodies of 900 kB at once': () => ({ body: chat('c', user(JSON.stringify(text(900_000)))), times: 40 }),
  '40 bodies just under what goes to a thread': () => ({
    body: chat('c', user(JSON.stringify(text(255_000)))),
    times: 40,
  }),
  '40 bodies of 4 000 members': () => ({ body: chat('c', `${keys(4_000)},${user('"hi"')}`), times: 40 }),
  'an answer of 50 MB': () => ({ body: chat('c', user('"large-answer"')) }),
  'an answer of 50 MB without usage': () => ({ body: chat('c', user('"large-unmetered"')) }),
  'passed: an answer of 50 MB without usage': () => ({ body: chat('p', user('"large-unmetered"')) }),
  'an answer of 200 000 members': () => ({ body: chat('c', user('"members-answer"')) }),
  'sign-in with a megabyte of members': () => ({
    path: '/api/v1/user/user/sign-in',
    body: `{${keys(70_000)}}`,
  }),
  'a video order of 400 000 members': () => ({
    path: '/v1/videos',
    body: `{"model":"v","prompt":"x",${keys(400_000)}}`,
  }),
  'counting a large conversation': () => ({
    path: '/v1/messages/count_tokens',
    body: chat('c', user(JSON.stringify(text(8 * MIB)))),
  }),
  'a video order of 200 characters, the measure of the next': () => ({
    path: '/v1/videos',
    body: `{"model":"v","prompt":"x"}`,
    prefer: 'respond-async',
  }),
  'a video order with a picture of 60 MB as JSON': () => ({
    path: '/v1/videos',
    body: order('v', 60 * MIB),
    prefer: 'respond-async',
    settleMs: 3_000,
  }),
  'the same to a vendor that takes forms': () => ({
    path: '/v1/videos',
    body: order('form', 60 * MIB),
    prefer: 'respond-async',
    settleMs: 3_000,
  }),
  'a video order with nine pictures of 5 MB': () => ({
    path: '/v1/videos',
    body: `{"model":"v","prompt":"x","reference_images":[${Array.from({ length: 9 }, () => `"${picture(5 * MIB)}"`).join()}]}`,
    prefer: 'respond-async',
    settleMs: 3_000,
  }),
  'a video order by chat with a picture of 30 MB': () => ({
    body: chat(
      'v',
      user(`[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"${picture(30 * MIB)}"}}]`),
    ),
    leaveAfterMs: 3_000,
  }),
  'reading a kept response of 15 MB': () => ({
    before: async (send) => ({ path: `/v1/responses/${await respond(send, { bytes: 15_000_000 })}` }),
    method: 'GET',
  }),
  'reading its input': () => ({
    before: async (send) => ({
      path: `/v1/responses/${await respond(send, { bytes: 15_000_000 })}/input_items`,
    }),
    method: 'GET',
  }),
  'going on with a conversation of 60 MB': () => ({
    before: async (send) => {
      let previous
      for (let turn = 0; turn < 4; turn += 1) previous = await respond(send, { bytes: 15_000_000, previous })
      return { body: response({ bytes: 20, previous }) }
    },
    path: '/v1/responses',
  }),
  'going on with a conversation of 500 turns': () => ({
    before: async (send) => {
      let previous
      for (let turn = 0; turn < 500; turn += 1) previous = await respond(send, { bytes: 2_000, previous })
      return { body: response({ bytes: 20, previous }) }
    },
    path: '/v1/responses',
  }),
  'leaving an answer of 50 MB before its end': () => ({
    body: chat('c', user('"unfinished-answer"')),
    leaveAfterMs: 3_000,
    settleMs: 1_000,
  }),
  'passed: leaving an answer of 50 MB before its end': () => ({
    body: chat('p', user('"unfinished-answer"')),
    leaveAfterMs: 3_000,
    settleMs: 1_000,
  }),
  'an event of 40 MB in a stream': () => ({ body: chat('c', `"stream":true,${user('"large-event"')}`) }),
  'passed: an event of 40 MB in a stream': () => ({
    body: chat('p', `"stream":true,${user('"large-event"')}`),
  }),
  'an event of 200 000 members in a stream': () => ({
    body: chat('c', `"stream":true,${user('"members-event"')}`),
  }),
  'passed: an event of 200 000 members in a stream': () => ({
    body: chat('p', `"stream":true,${user('"members-event"')}`),
  }),
  'a picture of 40 MB in a stream': () => ({ body: chat('p', `"stream":true,${user('"picture-event"')}`) }),
  'a body of 95 MB to a model of two chains': () => ({
    body: chat('two', user(JSON.stringify(text(95 * MIB)))),
  }),
  'a background response of 30 MB': () => ({
    path: '/v1/responses',
    body: `{"model":"r","background":true,"input":"large"}`,
    settleMs: 12_000,
  }),
  'reading a background response of 30 MB': () => ({
    before: async (send) => {
      const { text: told } = await send({
        path: '/v1/responses',
        body: `{"model":"r","background":true,"input":"large"}`,
      })
      const path = `/v1/responses/${JSON.parse(told).id}`
      for (;;) {
        const read = await send({ path, method: 'GET' })
        if (read.text.includes('"completed"') || read.status !== 200) return { path }
        await pause(1_000)
      }
    },
    method: 'GET',
  }),
  'an error of 50 MB': () => ({ body: chat('p', user('"large-error"')) }),
  'passed: a packed answer of 50 MB': () => ({ body: chat('p', user('"packed-answer"')) }),
}

const picture = (bytes) => `data:image/png;base64,${base64(bytes)}`
const order = (model, bytes) => `{"model":"${model}","prompt":"x","input_reference":"${picture(bytes)}"}`
const response = ({ bytes, previous }) =>
  JSON.stringify({
    model: 'c',
    input: text(bytes),
    ...(previous === undefined ? {} : { previous_response_id: previous }),
  })

/** The id of a response that was made of so much. */
async function respond(send, { bytes, previous }) {
  const { status, text: told } = await send({ path: '/v1/responses', body: response({ bytes, previous }) })
  if (status !== 200) throw new Error(`a response was not made: ${status} ${told.slice(0, 200)}`)
  return /"id":"(resp_[^"]+)"/.exec(told)[1]
}
