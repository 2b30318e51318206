/**
 * One form for every spelling of an e-mail address, so that two accounts cannot share one. Compatibility forms are folded
 * (NFKC: full-width letters, ligatures), everything is lower case, and the domain is written as the DNS knows it
 * (punycode), so that a domain of look-alike letters is visibly another one. The part before the @ must be ASCII: letters
 * that only look alike cannot be told apart there, and hardly any mail server takes them. Dots and `+tags` are kept:
 * their meaning depends on the provider, and merging them would give one person's account to another.
 */
export function normalEmail(text: string): string | undefined {
  const folded = text.normalize('NFKC').trim().toLowerCase()
  const at = folded.lastIndexOf('@')
  const local = folded.slice(0, at)
  const domain = at < 0 ? undefined : domainOf(folded.slice(at + 1))
  if (domain === undefined || !LOCAL.test(local) || local.length > LOCAL_CHARACTERS_MAX) return undefined
  const address = `${local}@${domain}`
  return address.length > ADDRESS_CHARACTERS_MAX ? undefined : address
}

/** RFC 5321 §4.5.3.1. */
const LOCAL_CHARACTERS_MAX = 64
const ADDRESS_CHARACTERS_MAX = 254
/** A dot-atom (RFC 5322 §3.2.3); quoted local parts are valid but not used in practice. */
const LOCAL = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/
/** Labels of letters, digits and inner hyphens; `localhost` is one, which a first start uses. */
const DOMAIN = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/

function domainOf(text: string): string | undefined {
  if (/[\s/?#:@\\[\]%]/.test(text)) return undefined
  const url = `http://${text}/`
  if (!URL.canParse(url)) return undefined
  const { hostname } = new URL(url)
  // An IP address is not a mail domain.
  return DOMAIN.test(hostname) && !/^[\d.]+$/.test(hostname) ? hostname : undefined
}
