import { ActionIcon, Button, Menu } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { type AnyAccount, activate, lookAs, resetFactors, suspend } from '../../api/operator/accounts.ts'
import { usePerson } from '../../api/session.ts'
import sheet from '../../parts/forms/sheet.module.css'
import { Icon } from '../../parts/marks/icon.tsx'
import { FormProblem } from '../../parts/page/problem.tsx'
import { useProblemText } from '../../parts/page/use-problem.ts'
import { ReasonDialog } from '../parts/reason-dialog.tsx'
import { namesOf } from '../parts/account-name.ts'
import { EditAccount } from './edit-account.tsx'
import { GrantDialog } from './grant-dialog.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

type Act = 'grant' | 'edit' | 'look' | 'suspend' | 'reset'

/** What an operator can do with an account. */
export function AccountActions({ of }: { readonly of: AnyAccount }) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const problemText = useProblemText()
  const [act, ask] = useState<Act>()
  const renew = () =>
    Promise.all(['accounts', 'audit'].map((key) => queryClient.invalidateQueries({ queryKey: [key] })))
  const letIn = useMutation({ mutationFn: () => activate(of.id), onSuccess: renew })
  const isPerson = of.kind === 'person'
  const mayLook = isPerson && of.role !== 'admin' && of.status === 'active'
  return (
    <>
      <div className={sheet.tools}>
        <Button variant="default" leftSection={<Icon name="wallet" size={14} />} onClick={() => ask('grant')}>
          {t('accounts.grant')}
        </Button>
        <Button variant="default" leftSection={<Icon name="edit" size={14} />} onClick={() => ask('edit')}>
          {t('accounts.edit')}
        </Button>
        {mayLook && (
          <Button variant="default" leftSection={<Icon name="eye" size={14} />} onClick={() => ask('look')}>
            {t('accounts.look')}
          </Button>
        )}
        <Further of={of} isPending={letIn.isPending} onActivate={() => letIn.mutate()} onAsk={ask} />
      </div>
      <FormProblem text={letIn.error === null ? undefined : problemText(letIn.error)} />
      {act !== undefined && <ActDialog act={act} of={of} renew={renew} onClose={() => ask(undefined)} />}
    </>
  )
}

interface FurtherProps {
  readonly of: AnyAccount
  readonly isPending: boolean
  readonly onActivate: () => void
  readonly onAsk: (act: Act) => void
}

/** Rarely used actions. */
function Further({ of, isPending, onActivate, onAsk }: FurtherProps) {
  const { t } = useTranslation()
  const person = usePerson()
  const isPerson = of.kind === 'person'
  return (
    <Menu width={240}>
      <Menu.Target>
        <ActionIcon variant="default" aria-label={t('accounts.more')} loading={isPending}>
          <Icon name="more" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {isPerson && (
          <Menu.Item leftSection={<Icon name="passkey" />} onClick={() => onAsk('reset')}>
            {t('accounts.reset')}
          </Menu.Item>
        )}
        {of.status === 'suspended' ? (
          <Menu.Item leftSection={<Icon name="play" />} onClick={onActivate}>
            {t('accounts.activate')}
          </Menu.Item>
        ) : (
          <Menu.Item
            data-danger
            disabled={of.id === person.id}
            leftSection={<Icon name="paused" />}
            onClick={() => onAsk('suspend')}
          >
            {t('accounts.suspend')}
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}

interface ActDialogProps {
  readonly act: Act
  readonly of: AnyAccount
  readonly renew: () => Promise<unknown>
  readonly onClose: () => void
}

function ActDialog({ act, of, renew, onClose }: ActDialogProps) {
  const { t } = useTranslation()
  const router = useRouter()
  const { name } = namesOf(of)
  switch (act) {
    case 'grant':
      return <GrantDialog of={of} renew={renew} onClose={onClose} />
    case 'edit':
      return <EditAccount of={of} renew={renew} onClose={onClose} />
    case 'suspend':
      return (
        <ReasonDialog
          title={t('accounts.suspendTitle')}
          text={t('accounts.suspendText', { name })}
          action={t('accounts.suspend')}
          danger
          optional
          onConfirm={async (reason) => {
            await suspend(of.id, reason)
            await renew()
          }}
          onClose={onClose}
        />
      )
    case 'reset':
      return (
        <ReasonDialog
          title={t('accounts.resetTitle')}
          text={t('accounts.resetText', { name })}
          action={t('accounts.reset')}
          danger
          onConfirm={async (reason) => {
            await resetFactors(of.id, reason)
            await renew()
          }}
          onClose={onClose}
        />
      )
    case 'look':
      return (
        <ReasonDialog
          title={t('accounts.lookTitle')}
          text={t('accounts.lookText', { name })}
          action={t('accounts.look')}
          onConfirm={async (reason) => {
            await lookAs(of.id, reason)
            // A full reload, so that no data of the operator is left in memory.
            window.location.assign(router.buildLocation({ to: '/', search: {} }).publicHref)
          }}
          onClose={onClose}
        />
      )
  }
}
