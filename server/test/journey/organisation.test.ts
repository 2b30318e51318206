/**
 * A team's life over real sockets and real mail: an owner makes an organisation and funds it, people come by invitation,
 * call with keys of their own, one meets his cap while the other calls on, and whoever is removed calls no more.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Answer, postJson, readAnswer } from '../gateway/client.ts'
import { putChain, putModel, putVendor, TEN_CREDITS } from '../gateway/gateway.ts'
import { answerOk } from '../gateway/scripted-upstream.ts'
import { type Desk, registerByMail } from '../identity/person.ts'
import { openMailbox } from '../notify/mailbox.ts'
import { withGateway } from '../gateway/with-gateway.ts'

let desk: Desk

const mailbox = await openMailbox()
afterAll(() => mailbox.close())
const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
  environment: { SLUICE_SMTP_URL: mailbox.url, SLUICE_MAIL_FROM: 'teams@sluice.example' },
  catalogue: ({ upstream }) => [
    ...putVendor('acme', upstream.url),
    putModel('ten', { pricing: TEN_CREDITS }),
    putChain({ model: 'ten', vendor: 'acme' }),
  ],
})

beforeAll(async () => {
  upstream.answer(answerOk({ prompt_tokens: 1, completion_tokens: 1 }))
  desk = { baseUrl: gateway.baseUrl, mailbox }
})

interface Person {
  readonly id: string
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  ask<Data>(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Data>
}

async function register(email: string): Promise<Person> {
  const { token, account_id: id } = await registerByMail(desk, email)
  const send: Person['send'] = async (method, path, body, headers) =>
    readAnswer(
      await fetch(`${gateway.baseUrl}/api/v1/user/user/${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    )
  return {
    id,
    send,
    async ask<Data>(...asked: Parameters<Person['send']>) {
      const answer = await send(...asked)
      if (answer.status >= 300) throw new Error(`${asked[0]} ${asked[1]}: ${answer.status} ${answer.text}`)
      // Each caller says what it expects, and looks at it.
      return answer.body.data as Data
    },
  }
}

async function joinByMail(owner: Person, team: string, email: string, terms: object): Promise<Person> {
  await owner.ask('POST', `organisations/${team}/invitations`, { email, ...terms })
  const { text = '' } = await mailbox.next(email)
  const [token] = /^invite-\S+$/m.exec(text) ?? []
  const person = await register(email)
  await person.ask('POST', 'organisations/invitations/accept', { token })
  return person
}

function call(key: string): Promise<Answer> {
  return postJson(
    `${gateway.baseUrl}/v1/chat/completions`,
    { model: 'ten', messages: [{ role: 'user', content: 'hi' }] },
    { authorization: `Bearer ${key}` },
  )
}

test('from an organisation to its first call, a cap, and a member who is removed', async () => {
  // An owner with money of her own.
  const ann = await register('ann@example.com')
  const admin = await gateway.newAdmin()
  await postJson(
    `${gateway.baseUrl}/api/v1/admin/accounts/${ann.id}/grants`,
    { credits: 1_000, reason: 'for the journey' },
    admin.headers,
  )

  // The organisation, and what she moves into it.
  const { id: team } = await ann.ask<{ id: string }>('POST', 'organisations', { name: 'Rockets' })
  const funded = await ann.ask(
    'POST',
    `organisations/${team}/fund`,
    { credits: '400' },
    { 'idempotency-key': 'first' },
  )
  expect(funded).toMatchObject({ organisation: { credits: '400' }, account: { credits: '600' } })

  // Two people, by mail; one may spend two hundredths of a yuan a month.
  const bob = await joinByMail(ann, team, 'bob@example.com', { monthly_cap_yuan: '0.02' })
  const eve = await joinByMail(ann, team, 'eve@example.com', {})
  const acting = { 'gw-organisation': team }
  const keyOf = async (person: Person) =>
    (await person.ask<{ key: string }>('POST', 'keys', { name: 'laptop' }, acting)).key
  const bobs = await keyOf(bob)
  const eves = await keyOf(eve)

  // Both call; the organisation pays.
  for (const key of [bobs, bobs, eves]) expect((await call(key)).status).toBe(200)
  await gateway.settled()
  expect(await ann.ask('GET', 'account', undefined, acting)).toMatchObject({ credits: '370' })
  expect(await bob.ask('GET', 'account')).toMatchObject({ credits: '0' })

  // The cap is his alone, and says when it is over.
  const capped = await call(bobs)
  expect(capped).toMatchObject({ status: 429, body: { code: 42906 } })
  expect(Number(capped.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await call(eves)).status).toBe(200)
  await gateway.settled()

  // Each sees what is theirs, the owner everything.
  const rows = async (person: Person) =>
    (await person.ask<readonly unknown[]>('GET', 'logs', undefined, acting)).length
  expect([await rows(bob), await rows(eve), await rows(ann)]).toEqual([3, 2, 5])
  const members = await ann.ask<readonly { id: string; email: string; month_spent_yuan: string }[]>(
    'GET',
    `organisations/${team}/members`,
  )
  expect(members.map(({ email, month_spent_yuan: spent }) => [email, spent])).toEqual([
    ['ann@example.com', '0'],
    ['bob@example.com', '0.02'],
    ['eve@example.com', '0.02'],
  ])

  // He is removed: no key of his calls again, no session of his acts again.
  const bobsMembership = members.find(({ email }) => email === 'bob@example.com')?.id ?? ''
  await ann.ask('DELETE', `organisations/${team}/members/${bobsMembership}`)
  expect(await call(bobs)).toMatchObject({ status: 401, body: { code: 40101 } })
  expect(await bob.send('GET', 'logs', undefined, acting)).toMatchObject({
    status: 403,
    body: { code: 40304 },
  })
  expect((await call(eves)).status).toBe(200)

  await gateway.settled()
  expect(await gateway.storage.ledger.verify()).toEqual([])
  expect(await ann.ask('GET', 'account', undefined, acting)).toMatchObject({ credits: '350' })
})
