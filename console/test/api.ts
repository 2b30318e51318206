/** The gateway as a program asks it, for what a journey needs before it begins. */
type Headers = Readonly<Record<string, string>>

export interface Person {
  readonly token: string
  /** Resolves to `data` of the answer; rejects when it is none. */
  ask<Data = unknown>(method: string, path: string, body?: unknown, headers?: Headers): Promise<Data>
}

export async function signInAs(
  baseUrl: string,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<Person> {
  const { token } = await ask<{ token: string }>(baseUrl, {
    method: 'POST',
    path: 'user/user/sign-in',
    body: { email, password },
  })
  return {
    token,
    ask: (method, path, body, headers) => ask(baseUrl, { method, path, body, token, headers }),
  }
}

interface Question {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly token?: string
  readonly headers?: Headers | undefined
}

async function ask<Data>(
  baseUrl: string,
  { method, path, body, token, headers = {} }: Question,
): Promise<Data> {
  const response = await fetch(`${baseUrl}/api/v1/${path}`, {
    method,
    headers: {
      ...headers,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const answer = (await response.json()) as { readonly data: Data; readonly message: string }
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${answer.message}`)
  return answer.data
}

/** A call of a model with an API key; resolves to its status. */
export async function callModel(
  baseUrl: string,
  {
    key,
    path = '/v1/chat/completions',
    body,
  }: { readonly key: string; readonly path?: string; readonly body: object },
): Promise<number> {
  const response = await fetch(`${baseUrl}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  })
  await response.arrayBuffer()
  return response.status
}
