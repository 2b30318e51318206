import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { sessionBegan } from '../api/connection.ts'
import { inBackground } from '../parts/page/in-background.ts'

/** Goes on as the person who signed in: to the page that was asked for, with nothing left of whoever was here before. */
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
 * The page of the console that an address names; undefined: it names none. Where it leads is told by the browser, which
 * follows dots and backslashes, too.
 */
function pageOf(address: string | undefined): string | undefined {
  if (address === undefined || !URL.canParse(address, window.location.origin)) return undefined
  const { origin, pathname, search, hash } = new URL(address, window.location.origin)
  return origin === window.location.origin && pathname.startsWith('/console/')
    ? `${pathname}${search}${hash}`
    : undefined
}
