/** Somebody at the API, with a browser's cookie or a program's token, and the mails and texts they get. */
import { codeIn, type Mailbox } from '../notify/mailbox.ts'
import { type Answer, get, postJson, sendRaw } from '../gateway/client.ts'

export const PREFIX = '/api/v1/user/user'

export interface Desk {
  readonly baseUrl: string
  readonly mailbox: Mailbox
}

export interface SignInData {
  readonly state: string
  readonly token: string
  readonly session_id: string
  readonly account_id: string
  readonly challenge: string
  readonly factors: readonly string[]
}

export type Headers = Record<string, string>

export const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` })

export function post(desk: Desk, path: string, body: unknown = {}, headers: Headers = {}): Promise<Answer> {
  return postJson(`${desk.baseUrl}${PREFIX}${path}`, body, headers)
}

export function read(desk: Desk, path: string, headers: Headers = {}): Promise<Answer> {
  return get(`${desk.baseUrl}${PREFIX}${path}`, headers)
}

export function send(
  desk: Desk,
  request: {
    readonly method: string
    readonly path: string
    readonly body?: unknown
    readonly headers?: Headers
  },
): Promise<Answer> {
  const { method, path, body, headers = {} } = request
  const text = body === undefined ? undefined : JSON.stringify(body)
  return sendRaw(`${desk.baseUrl}${PREFIX}${path}`, {
    method,
    headers: {
      ...(text === undefined ? {} : { 'content-type': 'application/json' }),
      'content-length': String(Buffer.byteLength(text ?? '')),
      ...headers,
    },
    pieces: text === undefined ? [] : [text],
  })
}

export function dataOf(answer: Answer): SignInData {
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`)
  return answer.body.data as SignInData
}

/** Asks for a code and reads it in the mail. */
export async function mailedCode(
  desk: Desk,
  target: string,
  purpose: string,
  headers: Headers = {},
): Promise<string> {
  const answer = await post(desk, '/verification-codes', { channel: 'email', target, purpose }, headers)
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`)
  return codeIn((await desk.mailbox.next(target)).text)
}

export const PASSWORD = 'correct horse battery'

/** An account made the way a person makes one. */
export async function registerByMail(desk: Desk, email: string, password = PASSWORD): Promise<SignInData> {
  const code = await mailedCode(desk, email, 'register')
  return dataOf(await post(desk, '/register/email', { email, code, password }))
}
