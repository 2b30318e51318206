import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { sessionBegan } from '../api/connection.ts'
import { inBackground } from '../parts/page/in-background.ts'

/** Continues as the person who signed in: opens the requested page and clears all data of the former session. */
export function useEnter(): (next: string | undefined) => void {
  const router = useRouter()
  const queryClient = useQueryClient()
  return (next) => {
    sessionBegan()
    queryClient.clear()
    router.history.push(pageOf(next) ?? '/console/')
    inBackground(router.invalidate())
  }
}

/**
 * The console page of an address; undefined: it is none. The browser resolves the address, including dots and
 * backslashes.
 */
function pageOf(address: string | undefined): string | undefined {
  if (address === undefined || !URL.canParse(address, window.location.origin)) return undefined
  const { origin, pathname, search, hash } = new URL(address, window.location.origin)
  return origin === window.location.origin && pathname.startsWith('/console/')
    ? `${pathname}${search}${hash}`
    : undefined
}
