import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { decide, type Request, readDocument, requestsQuery } from '../../api/operator/verifications.ts'
import { LIVE_MS } from '../../api/query-client.ts'
import { REFUSED_IN_FRAME } from '../../api/refusal.ts'
import { Confirm } from '../../parts/forms/confirm.tsx'
import sheet from '../../parts/forms/sheet.module.css'
import { save } from '../../parts/lists/download.ts'
import { Facts } from '../../parts/lists/facts.tsx'
import { Marked } from '../../parts/marks/marked.tsx'
import { Loaded } from '../../parts/page/loaded.tsx'
import { useFormat } from '../../parts/values/format.ts'
import { AccountLink } from '../parts/account-link.tsx'
import operator from '../parts/operator.module.css'
import { ReasonDialog } from '../parts/reason-dialog.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

/** Pending verifications; renders nothing if there are none. */
export function Requests() {
  const { t } = useTranslation()
  const requests = useQuery({ ...requestsQuery, refetchInterval: LIVE_MS })
  return (
    <section className={operator.proof}>
      <h2>{t('trust.requests')}</h2>
      <Loaded query={requests} height={60}>
        {(rows) =>
          rows.length === 0 ? (
            <p className={sheet.note}>{t('trust.noRequests')}</p>
          ) : (
            rows.map((request) => <One key={request.id} of={request} />)
          )
        }
      </Loaded>
    </section>
  )
}

/** Statements that have a name in the texts, by the gateway's field names. */
const STATED = ['legal_name', 'id_number', 'company_name', 'registration_number', 'contact_name'] as const

function One({ of }: { readonly of: Request }) {
  const { t } = useTranslation()
  const format = useFormat()
  const [asking, ask] = useState<'approved' | 'rejected'>()
  const wordOf = (field: string): string => {
    const known = STATED.find((each) => each === field)
    return known === undefined ? field : t(`trust.statement.${known}`)
  }
  return (
    <div className={operator.card}>
      <div className={operator.cardHead}>
        <b>{t(`trust.kinds.${of.kind}`)}</b>
        <span>{format.moment(of.submitted_at)}</span>
      </div>
      <Facts
        rows={[
          [t('trust.account'), <AccountLink key={of.account_id} id={of.account_id} />],
          ...Object.entries(of.statement).map(([field, value]) => [wordOf(field), value] as const),
          [t('trust.documents'), <Documents key="documents" of={of} />],
        ]}
      />
      <span className={operator.acts}>
        <Button size="xs" onClick={() => ask('approved')}>
          {t('trust.approve')}
        </Button>
        <Button size="xs" variant="default" onClick={() => ask('rejected')}>
          {t('trust.reject')}
        </Button>
      </span>
      {asking !== undefined && <Decision of={of} verdict={asking} onClose={() => ask(undefined)} />}
    </div>
  )
}

function Documents({ of }: { readonly of: Request }) {
  const fetching = useMutation({
    mutationFn: async (number: number) =>
      save(await readDocument(of.id, number), of.documents[number - 1]?.name ?? 'document'),
    meta: REFUSED_IN_FRAME,
  })
  return (
    <span className={operator.acts}>
      {of.documents.map(({ name }, index) => {
        const number = index + 1
        return (
          <Button
            key={number}
            variant="default"
            size="xs"
            loading={fetching.isPending && fetching.variables === number}
            onClick={() => fetching.mutate(number)}
          >
            {name}
          </Button>
        )
      })}
    </span>
  )
}

interface DecisionProps {
  readonly of: Request
  readonly verdict: 'approved' | 'rejected'
  readonly onClose: () => void
}

function Decision({ of, verdict, onClose }: DecisionProps) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const settle = async (reason: string): Promise<void> => {
    await decide(of.id, verdict, reason)
    await queryClient.invalidateQueries({ queryKey: ['verifications'] })
    await queryClient.invalidateQueries({ queryKey: ['audit'] })
  }
  if (verdict === 'approved') {
    return (
      <Confirm
        title={t('trust.approveTitle')}
        action={t('trust.approve')}
        danger={false}
        onConfirm={() => settle('')}
        onClose={onClose}
      >
        <Marked text={t('trust.approveText', { account: of.account_id })} />
      </Confirm>
    )
  }
  return (
    <ReasonDialog
      title={t('trust.rejectTitle')}
      text={t('trust.rejectText', { account: of.account_id })}
      action={t('trust.reject')}
      danger
      onConfirm={settle}
      onClose={onClose}
    />
  )
}
