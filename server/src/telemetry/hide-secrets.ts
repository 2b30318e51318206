/**
 * The last check of a line before it is written: anything that looks like a credential is masked, although no caller
 * should have put one there. The forms: keys of this gateway and of vendors (`sk-…`, `AIza…`, `gsk_…`, `xai-…`), tokens
 * of sessions and of pending sign-ins (`session-…`, `pending-…`), the text after `Bearer`, keys in a query string, JSON
 * web tokens, and passwords inside an address.
 */
const FORMS =
  /\b(?:session|pending)-[A-Za-z0-9_-]{43}|\b(?:sk|rk|pk|xai|gsk|r8|AKIA|AIza)[-_]?[A-Za-z0-9][A-Za-z0-9_-]{15,}|(?<=[Bb]earer )[^\s"\\]+|(?<=[?&](?:key|api_key|access_token)=)[^&\s"\\]+|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+|(?<=:\/\/[^:/\s"]{0,64}:)[^@\s"/]+(?=@)/g

export function hideSecrets(line: string): string {
  return line.replace(FORMS, '[secret]')
}
