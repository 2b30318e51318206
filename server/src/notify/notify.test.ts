/** Messages leave: to a real mail server, to real HTTP servers that check each service's signature, or to the log. */
import { createHash, createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  openScriptedUpstream,
  type ReceivedRequest,
  type ScriptedUpstream,
} from '../../test/gateway/scripted-upstream.ts'
import { type Mailbox, openMailbox } from '../../test/notify/mailbox.ts'
import { Secret } from '../core/secret.ts'
import type { Log, LogFields } from '../telemetry/log.ts'
import { openUpstream } from '../upstream/send.ts'
import { type OpenedMessenger, openMessenger } from './open-messenger.ts'

const NOW = Date.parse('2026-05-01T10:00:00.123Z')
const SMS = { channel: 'phone', to: '+8613800000000', text: 'Your code is 123456', code: '123456' } as const
const MAIL = {
  channel: 'email',
  to: 'person@example.com',
  subject: 'Your code',
  text: 'It is 123456.',
} as const

const upstream = openUpstream()
let service: ScriptedUpstream
let mailbox: Mailbox
beforeAll(async () => {
  service = await openScriptedUpstream()
  mailbox = await openMailbox()
})
afterAll(async () => {
  await upstream.close()
  await service.close()
  await mailbox.close()
})

interface Line {
  readonly fields: LogFields
  readonly message: string
}

function open(
  urls: { readonly smtp?: string; readonly sms?: string },
  lines: Line[] = [],
): Promise<OpenedMessenger> {
  const write = (fields: LogFields, message: string): void => {
    lines.push({ fields, message })
  }
  const log: Log = {
    fatal: write,
    error: write,
    warn: write,
    info: write,
    debug: write,
    trace: write,
    child: () => log,
  }
  return openMessenger({
    smtpUrl: urls.smtp === undefined ? undefined : new Secret(urls.smtp),
    mailFrom: 'Sluice <codes@sluice.example>',
    smsUrl: urls.sms === undefined ? undefined : new Secret(urls.sms),
    upstream,
    log,
    now: () => NOW,
  })
}

describe('mail', () => {
  test('arrives with its sender, subject and text', async () => {
    const messenger = await open({ smtp: mailbox.url })
    await messenger.send(MAIL)
    const mail = await mailbox.next('person@example.com')
    expect(mail.from).toMatchObject({ name: 'Sluice', address: 'codes@sluice.example' })
    expect(mail.to).toHaveLength(1)
    expect(mail.subject).toBe('Your code')
    expect(mail.text?.trim()).toBe('It is 123456.')
    await messenger.close()
  })

  test('goes only to its recipient, whatever the address looks like', async () => {
    const messenger = await open({ smtp: mailbox.url })
    const before = mailbox.mails.length
    const sent = messenger.send({ ...MAIL, to: 'one@example.com, two@example.com' })
    await sent.catch(() => undefined)
    for (const mail of mailbox.mails.slice(before)) expect(mail.to ?? []).toHaveLength(1)
    await messenger.close()
  })

  test('can be asked after without sending any', async () => {
    const right = await open({ smtp: mailbox.url })
    const wrong = await open({ smtp: mailbox.url.replace('p%40ss%2Fword', 'wrong-secret') })
    const before = mailbox.mails.length
    await expect(right.verify()).resolves.toBeUndefined()
    await expect(wrong.verify()).rejects.toThrow()
    await expect((await open({})).verify()).resolves.toBeUndefined()
    expect(mailbox.mails).toHaveLength(before)
    await right.close()
    await wrong.close()
  })

  test('that the server does not take is an error that shows no password', async () => {
    const messenger = await open({ smtp: mailbox.url.replace('p%40ss%2Fword', 'wrong-secret') })
    const failed = messenger.send(MAIL)
    await expect(failed).rejects.toThrow()
    await expect(failed).rejects.not.toThrow(/wrong-secret/)
    await messenger.close()
  })
})

function answer(status: number, body: unknown): void {
  service.answer((_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  })
}

async function sendAndSee(url: string): Promise<ReceivedRequest> {
  const messenger = await open({ sms: url })
  await messenger.send(SMS)
  const request = service.requests.at(-1)
  if (request === undefined) throw new Error('nothing was sent')
  return request
}

const host = (): string => service.url.replace('http://', '')

describe('a text message', () => {
  test('through Twilio is a form under the account, with its token', async () => {
    answer(201, { sid: 'SM1', status: 'queued' })
    const request = await sendAndSee(`twilio://AC1:token@x?from=%2B15550001&endpoint=${service.url}`)
    expect(request.method).toBe('POST')
    expect(request.path).toBe('/2010-04-01/Accounts/AC1/Messages.json')
    expect(request.headers.authorization).toBe(`Basic ${Buffer.from('AC1:token').toString('base64')}`)
    const form = Object.fromEntries(new URLSearchParams(request.body.toString()))
    expect(form).toEqual({ To: SMS.to, From: '+15550001', Body: SMS.text })
  })

  test('through a Twilio messaging service names the service', async () => {
    answer(201, {})
    const request = await sendAndSee(`twilio://AC1:token@x?from=MG77&endpoint=${service.url}`)
    expect(new URLSearchParams(request.body.toString()).get('MessagingServiceSid')).toBe('MG77')
  })

  test('through Aliyun is signed over everything that is sent (ACS3-HMAC-SHA256)', async () => {
    answer(200, { Code: 'OK', Message: 'OK' })
    const address = `aliyun://key:key-secret@x?sign=${encodeURIComponent('某公司')}&template=SMS_1`
    const request = await sendAndSee(`${address}&endpoint=${service.url}`)
    const query = new URLSearchParams(request.query)
    expect(Object.fromEntries(query)).toEqual({
      PhoneNumbers: '8613800000000',
      SignName: '某公司',
      TemplateCode: 'SMS_1',
      TemplateParam: '{"code":"123456"}',
    })
    expect(request.headers['x-acs-date']).toBe('2026-05-01T10:00:00Z')
    expect(request.headers.authorization).toBe(aliyunAuthorization(request))
  })

  test('through a service of the operator’s own is JSON, signed with the address’s password', async () => {
    answer(204, {})
    const request = await sendAndSee(`http://:hook-secret@${host()}/send?x=1`)
    expect(`${request.path}?${request.query}`).toBe('/send?x=1')
    expect(request.json()).toEqual({ to: SMS.to, text: SMS.text, code: SMS.code })
    const stamp = String(request.headers['x-sluice-timestamp'])
    expect(stamp).toBe(String(NOW))
    const expected = createHmac('sha256', 'hook-secret')
      .update(`${stamp}.${request.body.toString()}`)
      .digest('hex')
    expect(request.headers['x-sluice-signature']).toBe(expected)
    expect(request.headers.authorization).toBeUndefined()
  })

  test.each([
    ['Twilio', () => `twilio://AC1:t@x?from=1&endpoint=${service.url}`, 400, { code: 21211 }],
    ['Aliyun', () => `aliyun://k:s@x?sign=a&template=b&endpoint=${service.url}`, 200, { Code: 'isv.LIMIT' }],
    ['a webhook', () => `http://${host()}/send`, 500, {}],
  ])('that %s refuses is an error without the number and the code', async (_name, url, status, body) => {
    answer(status, body)
    const sent = (await open({ sms: url() })).send(SMS)
    await expect(sent).rejects.toThrow(/did not take/)
    await expect(sent).rejects.not.toThrow(/123456|138/)
  })

  test.each([
    ['twilio://AC1:token@api.twilio.com', 'from'],
    ['aliyun://key:secret@dysmsapi.aliyuncs.com?sign=a', 'template'],
    ['twilio://api.twilio.com?from=1', 'account'],
    ['pigeon://a:b@c', 'scheme'],
  ])('%s cannot be used, and the start says why', async (url, why) => {
    await expect(open({ sms: url })).rejects.toThrow(why)
  })
})

/** The signature as the service's own documentation builds it, from what arrived. */
function aliyunAuthorization({ headers, query, body }: ReceivedRequest): string {
  const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex')
  const signed = Object.keys(headers)
    .filter((name) => name === 'host' || name.startsWith('x-acs-'))
    .sort()
  const sorted = query.split('&').sort().join('&')
  const lines = signed.map((name) => `${name}:${String(headers[name])}\n`).join('')
  const canonical = ['POST', '/', sorted, lines, signed.join(';'), sha256(body)].join('\n')
  const signature = createHmac('sha256', 'key-secret')
    .update(`ACS3-HMAC-SHA256\n${sha256(canonical)}`)
    .digest('hex')
  return `ACS3-HMAC-SHA256 Credential=key,SignedHeaders=${signed.join(';')},Signature=${signature}`
}

describe('without a service', () => {
  test('messages are printed to the operator’s log', async () => {
    const lines: Line[] = []
    const messenger = await open({}, lines)
    await messenger.send(SMS)
    expect(lines.at(-1)?.fields).toMatchObject({ to: SMS.to, text: SMS.text })
    await messenger.send(MAIL)
    expect(lines.at(-1)?.fields).toMatchObject({ to: MAIL.to, text: MAIL.text })
    expect(messenger.leaves('email')).toBe(false)
  })
})
