import { useQueryClient } from '@tanstack/react-query'
import {
  type AccountKey,
  changeKeyOf,
  deleteKeyOf,
  type MadeKey,
  rotateKeyOf,
} from '../../api/operator/accounts.ts'
import { KeyActs } from '../../parts/keys/key-acts.tsx'

interface AccountKeyActionsProps {
  readonly account: string
  readonly of: AccountKey
  readonly onEdit: () => void
  readonly onReady: (made: MadeKey) => void
}

/** What an operator can do with somebody's key. */
export function AccountKeyActions({ account, of, onEdit, onReady }: AccountKeyActionsProps) {
  const queryClient = useQueryClient()
  return (
    <KeyActs
      of={of}
      acts={{
        setStatus: (status) => changeKeyOf(account, of.id, { status }),
        remove: () => deleteKeyOf(account, of.id),
        rotate: (overlap) => rotateKeyOf(account, of.id, overlap),
        renew: () =>
          Promise.all(['accounts', 'audit'].map((key) => queryClient.invalidateQueries({ queryKey: [key] }))),
      }}
      onEdit={onEdit}
      onReady={onReady}
    />
  )
}
