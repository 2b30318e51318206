import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { REFUSED_IN_FRAME } from '../../api/refusal.ts'
import { giveUp, lookAgain, type Task } from '../../api/operator/videos.ts'
import { RowAction } from '../../parts/lists/columns.tsx'
import { ReasonDialog } from '../parts/reason-dialog.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

/** The actions of a running task; renders nothing once it has ended. */
export function TaskActions({ of }: { readonly of: Task }) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const [asking, ask] = useState(false)
  const renew = () => queryClient.invalidateQueries({ queryKey: ['tasks'] })
  const look = useMutation({ mutationFn: () => lookAgain(of.id), onSettled: renew, meta: REFUSED_IN_FRAME })
  if (of.phase === 'ended') return null
  return (
    <>
      <RowAction loading={look.isPending} onClick={() => look.mutate()}>
        {t('videos.repoll')}
      </RowAction>
      <RowAction onClick={() => ask(true)}>{t('videos.giveUp')}</RowAction>
      {asking && (
        <ReasonDialog
          title={t('videos.giveUpTitle')}
          text={t('videos.giveUpText', { id: of.id })}
          action={t('videos.giveUp')}
          danger
          onConfirm={async (reason) => {
            await giveUp(of.id, reason)
            await renew()
          }}
          onClose={() => ask(false)}
        />
      )}
    </>
  )
}
