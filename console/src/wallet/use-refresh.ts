import { useQueryClient } from '@tanstack/react-query'
import { inBackground } from '../parts/page/in-background.ts'

/** Refreshes everything that depends on money, after a payment, purchase or redemption. */
const MOVED = ['account', 'subscription', 'statement', 'top-ups', 'quote', 'alerts', 'admission']

export function useRefreshMoney(): () => void {
  const queryClient = useQueryClient()
  return () => {
    for (const name of MOVED) inBackground(queryClient.invalidateQueries({ queryKey: [name] }))
  }
}
