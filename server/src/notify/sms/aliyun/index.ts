import { createHash, createHmac } from 'node:crypto'
import type { HttpRequest } from '../../../core/http-request.ts'
import type { PhoneMessage } from '../../messenger.ts'
import { endpointOf, requiredParameter, type SendMoment, type SmsDriver, userOf } from '../driver.ts'

const ALGORITHM = 'ACS3-HMAC-SHA256'

/** Aliyun's SendSms, 2017-05-25, under signature version 3. The template must have one parameter named `code`. */
export const aliyun: SmsDriver = {
  schemes: ['aliyun:'],
  open(url) {
    const { user, password } = userOf(url)
    const terms: Terms = {
      endpoint: endpointOf(url),
      keyId: user,
      keySecret: password,
      sign: requiredParameter(url, 'sign'),
      template: requiredParameter(url, 'template'),
    }
    return {
      secret: undefined,
      auth: { kind: 'none' },
      form: (message, moment) => signedRequest(message, moment, terms),
      refusal: ({ status, body }) => {
        const code = /"Code"\s*:\s*"([\w.]{1,80})"/.exec(body)?.[1]
        return status === 200 && code === 'OK' ? undefined : `status ${status}, ${code ?? 'no code'}`
      },
    }
  },
}

interface Terms {
  readonly endpoint: string
  readonly keyId: string
  readonly keySecret: string
  readonly sign: string
  readonly template: string
}

function signedRequest(message: PhoneMessage, { at, nonce }: SendMoment, terms: Terms): HttpRequest {
  const query = canonicalQuery({
    PhoneNumbers: message.to.replace(/^\+/, ''),
    SignName: terms.sign,
    TemplateCode: terms.template,
    TemplateParam: JSON.stringify({ code: message.code }),
  })
  const headers = {
    host: new URL(terms.endpoint).host,
    'x-acs-action': 'SendSms',
    'x-acs-content-sha256': sha256(''),
    'x-acs-date': new Date(at).toISOString().replace(/\.\d+Z$/, 'Z'),
    'x-acs-signature-nonce': nonce,
    'x-acs-version': '2017-05-25',
  }
  const names = Object.keys(headers).sort()
  const lines = Object.entries(headers)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${name}:${value}\n`)
  const canonical = ['POST', '/', query, lines.join(''), names.join(';'), sha256('')].join('\n')
  const signature = createHmac('sha256', terms.keySecret)
    .update(`${ALGORITHM}\n${sha256(canonical)}`)
    .digest('hex')
  const { host: _host, ...sent } = headers
  return {
    method: 'POST',
    url: `${terms.endpoint}/?${query}`,
    headers: {
      ...sent,
      authorization: `${ALGORITHM} Credential=${terms.keyId},SignedHeaders=${names.join(';')},Signature=${signature}`,
    },
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex')
}

/** RFC 3986: also encodes characters that `encodeURIComponent` does not but the signature requires. */
function canonicalQuery(parameters: Readonly<Record<string, string>>): string {
  return Object.entries(parameters)
    .map(([name, value]) => `${name}=${encodeStrictly(value)}`)
    .sort()
    .join('&')
}

function encodeStrictly(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
  })
}
