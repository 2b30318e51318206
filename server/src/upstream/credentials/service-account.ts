import { isJsonObject } from '../../core/json.ts'

/** The part of Google's key file that a token request needs. */
export interface ServiceAccount {
  readonly clientEmail: string
  /** PEM. */
  readonly privateKey: string
  readonly keyId: string | undefined
  readonly tokenUri: string
  readonly projectId: string | undefined
}

const TOKEN_URI = 'https://oauth2.googleapis.com/token'
/** RSA with 4096 bits takes 3300; signing with a far larger one would block every call. */
const PRIVATE_KEY_CHARACTERS_MAX = 4_096

/** undefined: not such a file. */
export function parseServiceAccount(text: string): ServiceAccount | undefined {
  if (!text.trimStart().startsWith('{')) return undefined
  const file = parseJson(text)
  if (!isJsonObject(file)) return undefined
  const { client_email: clientEmail, private_key: privateKey, private_key_id: keyId } = file
  const { token_uri: tokenUri, project_id: projectId } = file
  if (typeof clientEmail !== 'string' || typeof privateKey !== 'string') return undefined
  if (privateKey.length > PRIVATE_KEY_CHARACTERS_MAX) return undefined
  return {
    clientEmail,
    privateKey,
    keyId: typeof keyId === 'string' ? keyId : undefined,
    tokenUri: typeof tokenUri === 'string' ? tokenUri : TOKEN_URI,
    projectId: typeof projectId === 'string' ? projectId : undefined,
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
