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
    router.history.push(next?.startsWith('/console/') === true ? next : '/console/')
    inBackground(router.invalidate())
  }
}
