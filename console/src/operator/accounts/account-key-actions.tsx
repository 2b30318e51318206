import { ActionIcon, Menu } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import {
  type AccountKey,
  changeKeyOf,
  deleteKeyOf,
  type MadeKey,
  rotateKeyOf,
} from '../../api/operator/accounts.ts'
import { Confirm } from '../../parts/forms/confirm.tsx'
import { RotateDialog } from '../../parts/keys/rotate-dialog.tsx'
import { Icon } from '../../parts/marks/icon.tsx'
import { Marked } from '../../parts/marks/marked.tsx'
import { inBackground } from '../../parts/page/in-background.ts'
import { FormProblem } from '../../parts/page/problem.tsx'
import { useProblemText } from '../../parts/page/use-problem.ts'

type Act = 'rotate' | 'disable' | 'delete'

interface AccountKeyActionsProps {
  readonly account: string
  readonly of: AccountKey
  readonly onEdit: () => void
  readonly onReady: (made: MadeKey) => void
}

/** What an operator can do with somebody's key. */
export function AccountKeyActions({ account, of, onEdit, onReady }: AccountKeyActionsProps) {
  const problemText = useProblemText()
  const renew = useRenew()
  const [act, ask] = useState<Act>()
  const enable = useMutation({
    mutationFn: () => changeKeyOf(account, of.id, { status: 'enabled' }),
    onSuccess: renew,
  })
  return (
    <>
      <KeyMenu
        of={of}
        isPending={enable.isPending}
        onEdit={onEdit}
        onEnable={() => enable.mutate()}
        onAsk={ask}
      />
      <FormProblem text={enable.error === null ? undefined : problemText(enable.error)} />
      {act === 'rotate' && (
        <RotateDialog
          of={of}
          rotate={(overlap) => rotateKeyOf(account, of.id, overlap)}
          onClose={() => ask(undefined)}
          onRotated={(made) => {
            ask(undefined)
            inBackground(renew())
            onReady(made)
          }}
        />
      )}
      {(act === 'disable' || act === 'delete') && (
        <EndDialog act={act} account={account} of={of} onClose={() => ask(undefined)} />
      )}
    </>
  )
}

interface KeyMenuProps {
  readonly of: AccountKey
  readonly isPending: boolean
  readonly onEdit: () => void
  readonly onEnable: () => void
  readonly onAsk: (act: Act) => void
}

function KeyMenu({ of, isPending, onEdit, onEnable, onAsk }: KeyMenuProps) {
  const { t } = useTranslation()
  return (
    <Menu width={200}>
      <Menu.Target>
        <ActionIcon size="sm" aria-label={t('keys.more', { name: of.name })} loading={isPending}>
          <Icon name="more" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<Icon name="edit" />} onClick={onEdit}>
          {t('keys.edit')}
        </Menu.Item>
        <Menu.Item leftSection={<Icon name="rotate" />} onClick={() => onAsk('rotate')}>
          {t('keys.rotate')}
        </Menu.Item>
        {of.status === 'enabled' ? (
          <Menu.Item leftSection={<Icon name="paused" />} onClick={() => onAsk('disable')}>
            {t('keys.disable')}
          </Menu.Item>
        ) : (
          <Menu.Item leftSection={<Icon name="play" />} onClick={onEnable}>
            {t('keys.enable')}
          </Menu.Item>
        )}
        <Menu.Divider />
        <Menu.Item data-danger leftSection={<Icon name="trash" />} onClick={() => onAsk('delete')}>
          {t('keys.delete')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

interface EndDialogProps {
  readonly act: 'disable' | 'delete'
  readonly account: string
  readonly of: AccountKey
  readonly onClose: () => void
}

function EndDialog({ act, account, of, onClose }: EndDialogProps) {
  const { t } = useTranslation()
  const renew = useRenew()
  const isDelete = act === 'delete'
  return (
    <Confirm
      title={t(isDelete ? 'keys.deleteTitle' : 'keys.disableTitle')}
      action={t(isDelete ? 'keys.delete' : 'keys.disable')}
      danger={isDelete}
      onClose={onClose}
      onConfirm={async () => {
        if (isDelete) await deleteKeyOf(account, of.id)
        else await changeKeyOf(account, of.id, { status: 'disabled' })
        await renew()
      }}
    >
      <Marked
        text={
          isDelete
            ? t('keys.deleteText', { name: of.name, hint: of.hint })
            : t('keys.disableText', { name: of.name })
        }
      />
    </Confirm>
  )
}

function useRenew(): () => Promise<unknown> {
  const queryClient = useQueryClient()
  return () =>
    Promise.all(['accounts', 'audit'].map((key) => queryClient.invalidateQueries({ queryKey: [key] })))
}
