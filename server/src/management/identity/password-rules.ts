import { say, type Sentence } from '../../core/sentences/say.ts'
/**
 * What a password must be: long enough, and not among the most common ones. There are no rules about kinds of
 * characters.
 */
const CHARACTERS_MIN = 8
/** Hashing time grows with the length; real passwords are shorter. */
const CHARACTERS_MAX = 256

/** The most used passwords of at least eight characters in published leaks. */
const FIRST_GUESSES: ReadonlySet<string> = new Set([
  'password',
  'passw0rd',
  'password1',
  '12345678',
  '123456789',
  '1234567890',
  '87654321',
  'qwertyui',
  'qwertyuiop',
  'qwerty123',
  '1q2w3e4r',
  '1qaz2wsx',
  'iloveyou',
  'sunshine',
  'princess',
  'football',
  'baseball',
  'superman',
  'trustno1',
  'abcd1234',
  'abc12345',
  'letmein1',
  'welcome1',
  'admin123',
  'a1234567',
])

/** A sentence that continues after the field's name; undefined: the password is acceptable. */
export function findPasswordMistake(
  password: string,
  logins: readonly (string | undefined)[],
): Sentence | undefined {
  const length = Array.from(password).length
  if (length < CHARACTERS_MIN) return say('at-least-characters', { least: CHARACTERS_MIN })
  if (length > CHARACTERS_MAX) return say('at-most-characters', { most: CHARACTERS_MAX })
  const plain = password.toLowerCase()
  if (FIRST_GUESSES.has(plain)) return say('password-guessed-first')
  if (new Set(plain).size === 1) return say('password-one-character')
  const own = logins.flatMap((login) => (login === undefined ? [] : [login, login.split('@')[0] ?? login]))
  if (own.some((login) => login.toLowerCase() === plain)) return say('password-is-the-name')
  return undefined
}
