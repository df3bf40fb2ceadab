package choir

import "maps"

// The reasons. Which values each takes stands in its sentences.
const (
	ReasonNoComputer             Reason = "no_computer"
	ReasonNotRunning             Reason = "not_running"
	ReasonStopped                Reason = "stopped"
	ReasonNoComputerYet          Reason = "no_computer_yet"
	ReasonNothingOfYours         Reason = "nothing_of_yours"
	ReasonNoOperation            Reason = "no_operation"
	ReasonNobodyLoggedIn         Reason = "nobody_logged_in"
	ReasonNotLoggedIn            Reason = "not_logged_in"
	ReasonSessionEnded           Reason = "session_ended"
	ReasonPageHasNoSession       Reason = "page_has_no_session"
	ReasonLinkUsed               Reason = "link_used"
	ReasonLinkTooOld             Reason = "link_too_old"
	ReasonTicketSpent            Reason = "ticket_spent"
	ReasonTooManyTickets         Reason = "too_many_tickets"
	ReasonOnlyOnHost             Reason = "only_on_host"
	ReasonOnlyOwner              Reason = "only_owner"
	ReasonDesktopMayNot          Reason = "desktop_may_not"
	ReasonOtherComputersDesktop  Reason = "other_computers_desktop"
	ReasonOtherPage              Reason = "other_page"
	ReasonTooManySockets         Reason = "too_many_sockets"
	ReasonBodyTooLarge           Reason = "body_too_large"
	ReasonTooManyDrafts          Reason = "too_many_drafts"
	ReasonTooManyDeskChanges     Reason = "too_many_desktop_changes"
	ReasonTooManyConnects        Reason = "too_many_connects"
	ReasonTooManyPrompts         Reason = "too_many_prompts"
	ReasonPromptLength           Reason = "prompt_length"
	ReasonNoIsolation            Reason = "no_isolation"
	ReasonComputerNotOpened      Reason = "computer_not_opened"
	ReasonComputerNotRunning     Reason = "computer_not_running"
	ReasonComputerNotStarted     Reason = "computer_not_started"
	ReasonEgressNone             Reason = "egress_none"
	ReasonEgressHost             Reason = "egress_host"
	ReasonEgressTask             Reason = "egress_task"
	ReasonEgressRule             Reason = "egress_rule"
	ReasonEgressUnclear          Reason = "egress_unclear"
	ReasonEgressAddress          Reason = "egress_address"
	ReasonEgressBusy             Reason = "egress_busy"
	ReasonEgressUnreachable      Reason = "egress_unreachable"
	ReasonEgressAsked            Reason = "egress_asked"
	ReasonEgressClosed           Reason = "egress_closed"
	ReasonEgressOver             Reason = "egress_over"
	ReasonEgressNobodyAsks       Reason = "egress_nobody_asks"
	ReasonEgressManyGrants       Reason = "egress_many_grants"
	ReasonEgressNoGrant          Reason = "egress_no_grant"
	ReasonEgressHeld             Reason = "egress_held"
	ReasonEffectHeld             Reason = "effect_held"
	ReasonEffectNone             Reason = "effect_none"
	ReasonEffectAnswered         Reason = "effect_answered"
	ReasonEffectMoved            Reason = "effect_moved"
	ReasonVaultNoEntry           Reason = "vault_no_entry"
	ReasonVaultUnreadable        Reason = "vault_unreadable"
	ReasonVaultKeyShort          Reason = "vault_key_short"
	ReasonCredentialNotForThis   Reason = "credential_not_for_this"
	ReasonGitNotNamed            Reason = "git_not_named"
	ReasonGitNotARequest         Reason = "git_not_a_request"
	ReasonGitUnauthorized        Reason = "git_unauthorized"
	ReasonVaultNoneFor           Reason = "vault_none_for"
	ReasonGitMoved               Reason = "git_moved"
	ReasonGitEncoded             Reason = "git_encoded"
	ReasonGitAddress             Reason = "git_address"
	ReasonGitCloneFailed         Reason = "git_clone_failed"
	ReasonMakingComputers        Reason = "making_computers"
	ReasonNameBeingMade          Reason = "name_being_made"
	ReasonNameTaken              Reason = "name_taken"
	ReasonNameLength             Reason = "name_length"
	ReasonNameIsID               Reason = "name_is_id"
	ReasonImportUnderWay         Reason = "import_under_way"
	ReasonDemoUnderWay           Reason = "demo_under_way"
	ReasonImportNoSpace          Reason = "import_no_space"
	ReasonDiskFull               Reason = "disk_full"
	ReasonPathExists             Reason = "path_exists"
	ReasonPathVanished           Reason = "path_vanished"
	ReasonPathChanged            Reason = "path_changed"
	ReasonPathMissing            Reason = "path_missing"
	ReasonPathMissingThen        Reason = "path_missing_then"
	ReasonPathOutside            Reason = "path_outside"
	ReasonPathLength             Reason = "path_length"
	ReasonPathInGit              Reason = "path_in_git"
	ReasonTargetTwice            Reason = "target_twice"
	ReasonAlreadyThere           Reason = "already_there"
	ReasonIntoItself             Reason = "into_itself"
	ReasonHoldsItself            Reason = "holds_itself"
	ReasonInTrash                Reason = "in_trash"
	ReasonOneInsideOther         Reason = "one_inside_other"
	ReasonNotInTrash             Reason = "not_in_trash"
	ReasonNoTrashItem            Reason = "no_trash_item"
	ReasonUploadTooLarge         Reason = "upload_too_large"
	ReasonTaskRunning            Reason = "task_running"
	ReasonTooManyWindows         Reason = "too_many_windows"
	ReasonNoWindow               Reason = "no_window"
	ReasonNoRunHere              Reason = "no_run_here"
	ReasonTooManySettings        Reason = "too_many_settings"
	ReasonDraftTooLarge          Reason = "draft_too_large"
	ReasonDraftChanged           Reason = "draft_changed"
	ReasonDraftsFull             Reason = "drafts_full"
	ReasonNothingUnsaved         Reason = "nothing_unsaved"
	ReasonNoDocumentThen         Reason = "no_document_then"
	ReasonDocumentExists         Reason = "document_exists"
	ReasonDocumentChanged        Reason = "document_changed"
	ReasonTitleBlank             Reason = "title_blank"
	ReasonNoOverlay              Reason = "no_overlay"
	ReasonNotInLog               Reason = "not_in_log"
	ReasonSourceNotOlder         Reason = "source_not_older"
	ReasonDesktopBudget          Reason = "desktop_budget"
	ReasonRunAtWork              Reason = "run_at_work"
	ReasonNoSuchQuestion         Reason = "no_such_question"
	ReasonRunEnded               Reason = "run_ended"
	ReasonNoRunToFollow          Reason = "no_run_to_follow"
	ReasonRunNotEnded            Reason = "run_not_ended"
	ReasonUndoRunOpen            Reason = "undo_run_open"
	ReasonUndoNoFiles            Reason = "undo_no_files"
	ReasonUndoUnknown            Reason = "undo_unknown"
	ReasonUndoCallOpen           Reason = "undo_call_open"
	ReasonUndoTaskOpen           Reason = "undo_task_open"
	ReasonUndoNeverBegan         Reason = "undo_never_began"
	ReasonTaskDoesNotStop        Reason = "task_does_not_stop"
	ReasonRewindUnderWay         Reason = "rewind_under_way"
	ReasonNoRewind               Reason = "no_rewind"
	ReasonChangedOnBothSides     Reason = "changed_on_both_sides"
	ReasonNoEvent                Reason = "no_event"
	ReasonNoSnapshotThen         Reason = "no_snapshot_then"
	ReasonNoTerminalNow          Reason = "no_terminal_now"
	ReasonTooManyTerminals       Reason = "too_many_terminals"
	ReasonNoTerminal             Reason = "no_terminal"
	ReasonTypedTooFar            Reason = "typed_too_far"
	ReasonSandboxEnded           Reason = "sandbox_ended"
	ReasonSandboxSilent          Reason = "sandbox_silent"
	ReasonNoProject              Reason = "no_project"
	ReasonNotAProjectName        Reason = "not_a_project_name"
	ReasonNoProjectName          Reason = "no_project_name"
	ReasonNoWorkToExport         Reason = "no_work_to_export"
	ReasonUndoneNotCommitted     Reason = "undone_not_committed"
	ReasonRepositoryBroken       Reason = "repository_broken"
	ReasonNoModelKey             Reason = "no_model_key"
	ReasonNoModel                Reason = "no_model"
	ReasonNoModelFor             Reason = "no_model_for"
	ReasonKeyRefused             Reason = "key_refused"
	ReasonKeyRefusedInForm       Reason = "key_refused_in_form"
	ReasonNoCredit               Reason = "no_credit"
	ReasonModelFailed            Reason = "model_failed"
	ReasonModelRefused           Reason = "model_refused"
	ReasonModelNotThere          Reason = "model_not_there"
	ReasonModelOverloaded        Reason = "model_overloaded"
	ReasonModelUnreachable       Reason = "model_unreachable"
	ReasonModelUnreachableInForm Reason = "model_unreachable_in_form"
	ReasonModelSilent            Reason = "model_silent"
	ReasonConnectUnderWay        Reason = "connect_under_way"
	ReasonRegionMissing          Reason = "region_missing"
	ReasonKeyAgain               Reason = "key_again"
	ReasonKeyMissing             Reason = "key_missing"
	ReasonKeyEmpty               Reason = "key_empty"
	ReasonKeyTooLong             Reason = "key_too_long"
	ReasonKeyNotAlone            Reason = "key_not_alone"
	ReasonNotAServiceName        Reason = "not_a_service_name"
	ReasonAddressNotHTTP         Reason = "address_not_http"
	ReasonAddressWithSecret      Reason = "address_with_secret"
	ReasonAddressForbidden       Reason = "address_forbidden"
	ReasonPriceUnknown           Reason = "price_unknown"
	ReasonPriceUnknownTested     Reason = "price_unknown_tested"
	ReasonServiceUnknown         Reason = "service_unknown"
	ReasonKeyFileMissing         Reason = "key_file_missing"
	ReasonKeyFileOpen            Reason = "key_file_open"
	ReasonKeyFileEmpty           Reason = "key_file_empty"
	ReasonFieldRequired          Reason = "field_required"
	ReasonFieldUnknown           Reason = "field_unknown"
	ReasonFieldUnknownMeant      Reason = "field_unknown_meant"
	ReasonFieldUnknownKnown      Reason = "field_unknown_known"
	ReasonFieldShort             Reason = "field_short"
	ReasonFieldLong              Reason = "field_long"
	ReasonFieldFew               Reason = "field_few"
	ReasonFieldMany              Reason = "field_many"
	ReasonFieldFewBytes          Reason = "field_few_bytes"
	ReasonFieldManyBytes         Reason = "field_many_bytes"
	ReasonFieldRange             Reason = "field_range"
	ReasonFieldNoBoolean         Reason = "field_no_boolean"
	ReasonFieldNoNumber          Reason = "field_no_number"
	ReasonFieldNoText            Reason = "field_no_text"
	ReasonFieldNoList            Reason = "field_no_list"
	ReasonFieldNoObject          Reason = "field_no_object"
	ReasonFieldNoTime            Reason = "field_no_time"
	ReasonFieldNoBase64          Reason = "field_no_base64"
	ReasonProjectNameRule        Reason = "project_name_rule"
	ReasonFieldBeforeFrom        Reason = "field_before_from"
	ReasonOnlyForRequest         Reason = "only_for_request"
	ReasonOnlyForMinimised       Reason = "only_for_minimised"
	ReasonOnlyForSnapped         Reason = "only_for_snapped"
	ReasonFieldNotJSON           Reason = "field_not_json"
	ReasonFieldOutOfRange        Reason = "field_out_of_range"
	ReasonFieldTwice             Reason = "field_twice"
	ReasonFieldBase64            Reason = "field_base64"
	ReasonFieldWholeNumber       Reason = "field_whole_number"
	ReasonFieldUuid              Reason = "field_uuid"
	ReasonFieldUuid7             Reason = "field_uuid7"
	ReasonFieldDigest            Reason = "field_digest"
	ReasonFieldOneOf             Reason = "field_one_of"
	ReasonEventTypeForm          Reason = "event_type_form"
	ReasonFieldTime              Reason = "field_time"
	ReasonEventTypeUnknown       Reason = "event_type_unknown"
	ReasonModelBudgetZero        Reason = "model_budget_zero"
	ReasonTaskGitAction          Reason = "task_git_action"
	ReasonTaskOnlyGit            Reason = "task_only_git"
	ReasonTaskGitArgs            Reason = "task_git_args"
	ReasonTaskOnlyEdit           Reason = "task_only_edit"
	ReasonTaskWorktreeProject    Reason = "task_worktree_project"
	ReasonTaskWorktreeAttempt    Reason = "task_worktree_attempt"
	ReasonTaskTrigger            Reason = "task_trigger"
	ReasonTaskNoCommands         Reason = "task_no_commands"
	ReasonArgvOrShell            Reason = "argv_or_shell"
	ReasonAllowlistMode          Reason = "allowlist_mode"
	ReasonStoreKeepsAll          Reason = "store_keeps_all"
	ReasonBeingExported          Reason = "being_exported"
	ReasonWorkspaceToBecome      Reason = "workspace_to_become"
	ReasonWorkspaceToRecord      Reason = "workspace_to_record"
	ReasonImportLogDamaged       Reason = "import_log_damaged"
	ReasonImportWorkspaceDiffers Reason = "import_workspace_differs"
	ReasonImportOtherComputer    Reason = "import_other_computer"
	ReasonImportBlobMissing      Reason = "import_blob_missing"
	ReasonImportBlobSpare        Reason = "import_blob_spare"
	ReasonLogEndsElsewhere       Reason = "log_ends_elsewhere"
	ReasonNoSnapshotYet          Reason = "no_snapshot_yet"
	ReasonTakeFromItself         Reason = "take_from_itself"
	ReasonNoSharedPast           Reason = "no_shared_past"
	ReasonNothingChangedThere    Reason = "nothing_changed_there"
	ReasonFieldNoUTF8            Reason = "field_no_utf8"
	ReasonOverlayOutcome         Reason = "overlay_outcome"
	ReasonPageNameLine           Reason = "page_name_line"
	ReasonComputerClosed         Reason = "computer_closed"
	ReasonFileOfNewerChoir       Reason = "file_of_newer_choir"
	ReasonThemeNameRule          Reason = "theme_name_rule"
	ReasonTokenNameRule          Reason = "token_name_rule"
	ReasonThemeTokenTwice        Reason = "theme_token_twice"
	ReasonThemeValueCharacter    Reason = "theme_value_character"
	ReasonThemeValueComment      Reason = "theme_value_comment"
	ReasonThemeValueOpen         Reason = "theme_value_open"
	ReasonThemeValueCall         Reason = "theme_value_call"
	ReasonWindowNoChange         Reason = "window_no_change"
	ReasonRunOpensNone           Reason = "run_opens_none"
	ReasonSettingNameRule        Reason = "setting_name_rule"
	ReasonAppNameRule            Reason = "app_name_rule"
	ReasonFieldUnseen            Reason = "field_unseen"
	ReasonCheckpointLate         Reason = "checkpoint_late"
	ReasonTaskNotJSON            Reason = "task_not_json"
	ReasonGrantTooLong           Reason = "grant_too_long"
	ReasonGrantScope             Reason = "grant_scope"
	ReasonGrantNoRun             Reason = "grant_no_run"
	ReasonEventOfOther           Reason = "event_of_other"
	ReasonLogOfOther             Reason = "log_of_other"
	ReasonMomentCollected        Reason = "moment_collected"
	ReasonProjectFolderThere     Reason = "project_folder_there"
	ReasonProjectNotTrashed      Reason = "project_not_trashed"
	ReasonBeingCloned            Reason = "being_cloned"
	ReasonExportFormat           Reason = "export_format"
	ReasonGitFailed              Reason = "git_failed"
	ReasonGitSlow                Reason = "git_slow"
	ReasonFieldSaysNothing       Reason = "field_says_nothing"
	ReasonTooManyBroke           Reason = "too_many_broke"
	ReasonSourceAsShipped        Reason = "source_as_shipped"
	ReasonNoFolder               Reason = "no_folder"
	ReasonBrowserSlow            Reason = "browser_slow"
	ReasonFieldBeforeStart       Reason = "field_before_start"
	ReasonVersionAndAsOf         Reason = "version_and_as_of"
	ReasonFieldNoDigest          Reason = "field_no_digest"
	ReasonFieldMustBeUuid7       Reason = "field_must_be_uuid7"
	ReasonIfMatchMissing         Reason = "if_match_missing"
	ReasonSeenMissing            Reason = "seen_missing"
	ReasonFieldNoEvent           Reason = "field_no_event"
	ReasonFieldOver              Reason = "field_over"
	ReasonReplayKeyUsed          Reason = "replay_key_used"
	ReasonFieldNoOffset          Reason = "field_no_offset"
	ReasonSeqOrCheckpoint        Reason = "seq_or_checkpoint"
	ReasonMetricsToken           Reason = "metrics_token"
	ReasonConnectionLost         Reason = "connection_lost"
	ReasonServiceKeyStays        Reason = "service_key_stays"
	ReasonServiceChanged         Reason = "service_changed"
	ReasonGrantOneHost           Reason = "grant_one_host"
	ReasonVaultKeyChanged        Reason = "vault_key_changed"
	ReasonAllowlistWithNone      Reason = "allowlist_with_none"
	ReasonEgressMode             Reason = "egress_mode"
	ReasonHostRule               Reason = "host_rule"
	ReasonHostBelowAddress       Reason = "host_below_address"
	ReasonFieldNoPort            Reason = "field_no_port"
	ReasonHTTPMethodRule         Reason = "http_method_rule"
	ReasonPathRule               Reason = "path_rule"
	ReasonComputerStops          Reason = "computer_stops"
	ReasonNoSuchRoute            Reason = "no_such_route"
	ReasonNoServiceWorker        Reason = "no_service_worker"
	ReasonPageOfOther            Reason = "page_of_other"
	ReasonPageLeadsOut           Reason = "page_leads_out"
	ReasonNotInBuild             Reason = "not_in_build"
	ReasonChoirStopping          Reason = "choir_stopping"
	ReasonEgressModeGiven        Reason = "egress_mode_given"
	ReasonNoConfiguration        Reason = "no_configuration"
	ReasonComputerHibernates     Reason = "computer_hibernates"
	ReasonNoSuchModel            Reason = "no_such_model"
	ReasonNoVault                Reason = "no_vault"
	ReasonVaultBoundElsewhere    Reason = "vault_bound_elsewhere"
	ReasonVaultHostRule          Reason = "vault_host_rule"
	ReasonVaultOnlyGit           Reason = "vault_only_git"
	ReasonVaultHeader            Reason = "vault_header"
	ReasonVaultPrefix            Reason = "vault_prefix"
	ReasonVaultNotGit            Reason = "vault_not_git"
	ReasonVaultUser              Reason = "vault_user"
	ReasonVaultGitMethods        Reason = "vault_git_methods"
	ReasonRecordLocks            Reason = "record_locks"
	ReasonDemoPlaying            Reason = "demo_playing"
	ReasonDemoWouldReplace       Reason = "demo_would_replace"
	ReasonSeatDown               Reason = "seat_down"
	ReasonSeatNoteDamaged        Reason = "seat_note_damaged"
	ReasonSeatOtherDriver        Reason = "seat_other_driver"
	ReasonNotRunningHere         Reason = "not_running_here"
	ReasonCookieNotKept          Reason = "cookie_not_kept"
	ReasonDesktopServerEnded     Reason = "desktop_server_ended"
	ReasonDesktopServerSlow      Reason = "desktop_server_slow"
	ReasonDesktopNoNode          Reason = "desktop_no_node"
	ReasonArchivePathLong        Reason = "archive_path_long"
	ReasonExportChanged          Reason = "export_changed"
	ReasonArchiveOrderBlob       Reason = "archive_order_blob"
	ReasonArchiveNoMember        Reason = "archive_no_member"
	ReasonArchiveOrder           Reason = "archive_order"
	ReasonArchiveNoLog           Reason = "archive_no_log"
	ReasonArchiveListLarge       Reason = "archive_list_large"
	ReasonNotAnExport            Reason = "not_an_export"
	ReasonArchiveMemberLarge     Reason = "archive_member_large"
	ReasonTooDeep                Reason = "too_deep"
	ReasonEventMissing           Reason = "event_missing"
	ReasonLogEndsAt              Reason = "log_ends_at"
	ReasonEventOfNewerChoir      Reason = "event_of_newer_choir"
	ReasonLogDamaged             Reason = "log_damaged"
	ReasonLogReadOnly            Reason = "log_read_only"
	ReasonRoleMayNotAppend       Reason = "role_may_not_append"
	ReasonEventNeeds             Reason = "event_needs"
	ReasonEventAboutOther        Reason = "event_about_other"
	ReasonAppendAnswering        Reason = "append_answering"
	ReasonAppendCollided         Reason = "append_collided"
	ReasonAppendFirstFailed      Reason = "append_first_failed"
	ReasonFieldEventNumber       Reason = "field_event_number"
	ReasonAppendQueueFull        Reason = "append_queue_full"
	ReasonEventUnreadable        Reason = "event_unreadable"
	ReasonLogClosedBefore        Reason = "log_closed_before"
	ReasonLogClosed              Reason = "log_closed"
	ReasonSqliteOfNewer          Reason = "sqlite_of_newer"
	ReasonSqliteNotReplaced      Reason = "sqlite_not_replaced"
	ReasonJournalReading         Reason = "journal_reading"
	ReasonJournalDamaged         Reason = "journal_damaged"
	ReasonJournalClosed          Reason = "journal_closed"
	ReasonEventDamaged           Reason = "event_damaged"
	ReasonLogPartRepaired        Reason = "log_part_repaired"
	ReasonNoEventYet             Reason = "no_event_yet"
	ReasonJournalDamagedPart     Reason = "journal_damaged_part"
	ReasonModelCallFailed        Reason = "model_call_failed"
	ReasonConversationLong       Reason = "conversation_long"
	ReasonModelConnectionBroke   Reason = "model_connection_broke"
	ReasonModelStreamCut         Reason = "model_stream_cut"
	ReasonModelStreamMalformed   Reason = "model_stream_malformed"
	ReasonModelNothingFor        Reason = "model_nothing_for"
	ReasonModelRedirects         Reason = "model_redirects"
	ReasonModelContentType       Reason = "model_content_type"
	ReasonWorkspaceTooMuch       Reason = "workspace_too_much"
	ReasonRemovedMoved           Reason = "removed_moved"
	ReasonTreeKeptChanging       Reason = "tree_kept_changing"
	ReasonProgramNotInBuild      Reason = "program_not_in_build"
	ReasonModelCallStopped       Reason = "model_call_stopped"
	ReasonModelCallLong          Reason = "model_call_long"
)

// reasonCodes maps each reason to the code of its errors.
var reasonCodes = merge(pageReasons, hostReasons)

// merge returns the rows of both tables as one.
func merge(a, b map[Reason]Code) map[Reason]Code {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// pageReasons are the reasons that pages say too, in problems.*.json.
var pageReasons = map[Reason]Code{
	ReasonNoComputer:             CodeNotFound,
	ReasonNotRunning:             CodeUnavailable,
	ReasonStopped:                CodeUnavailable,
	ReasonNoComputerYet:          CodeNotFound,
	ReasonNothingOfYours:         CodeNotFound,
	ReasonNoOperation:            CodeNotFound,
	ReasonNobodyLoggedIn:         CodeUnauthenticated,
	ReasonNotLoggedIn:            CodeUnauthenticated,
	ReasonSessionEnded:           CodeUnauthenticated,
	ReasonPageHasNoSession:       CodeUnauthenticated,
	ReasonLinkUsed:               CodeUnauthenticated,
	ReasonLinkTooOld:             CodeUnauthenticated,
	ReasonTicketSpent:            CodeUnauthenticated,
	ReasonTooManyTickets:         CodeRateLimited,
	ReasonOnlyOnHost:             CodeForbidden,
	ReasonOnlyOwner:              CodeForbidden,
	ReasonDesktopMayNot:          CodeForbidden,
	ReasonOtherComputersDesktop:  CodeForbidden,
	ReasonOtherPage:              CodeForbidden,
	ReasonTooManySockets:         CodeRateLimited,
	ReasonBodyTooLarge:           CodeTooLarge,
	ReasonTooManyDrafts:          CodeRateLimited,
	ReasonTooManyDeskChanges:     CodeRateLimited,
	ReasonTooManyConnects:        CodeRateLimited,
	ReasonTooManyPrompts:         CodeRateLimited,
	ReasonPromptLength:           CodeInvalid,
	ReasonNoIsolation:            CodeUnavailable,
	ReasonComputerNotOpened:      CodeUnavailable,
	ReasonComputerNotRunning:     CodeUnavailable,
	ReasonComputerNotStarted:     CodeUnavailable,
	ReasonEgressNone:             CodeRefused,
	ReasonEgressHost:             CodeRefused,
	ReasonEgressTask:             CodeRefused,
	ReasonEgressRule:             CodeRefused,
	ReasonEgressUnclear:          CodeRefused,
	ReasonEgressAddress:          CodeRefused,
	ReasonEgressBusy:             CodeRateLimited,
	ReasonEgressUnreachable:      CodeUnavailable,
	ReasonEgressAsked:            CodeRefused,
	ReasonEgressClosed:           CodeRefused,
	ReasonEgressOver:             CodeConflict,
	ReasonEgressNobodyAsks:       CodeNotFound,
	ReasonEgressManyGrants:       CodeRefused,
	ReasonEgressHeld:             CodeRefused,
	ReasonEffectHeld:             CodeConflict,
	ReasonEffectNone:             CodeNotFound,
	ReasonEffectAnswered:         CodeConflict,
	ReasonEffectMoved:            CodeConflict,
	ReasonEgressNoGrant:          CodeNotFound,
	ReasonVaultNoEntry:           CodeNotFound,
	ReasonVaultUnreadable:        CodeUnavailable,
	ReasonVaultKeyShort:          CodeInvalid,
	ReasonCredentialNotForThis:   CodeRefused,
	ReasonGitNotNamed:            CodeRefused,
	ReasonGitNotARequest:         CodeRefused,
	ReasonGitUnauthorized:        CodeRefused,
	ReasonVaultNoneFor:           CodeRefused,
	ReasonGitMoved:               CodeRefused,
	ReasonGitEncoded:             CodeRefused,
	ReasonGitAddress:             CodeInvalid,
	ReasonGitCloneFailed:         CodeUnavailable,
	ReasonMakingComputers:        CodeBusy,
	ReasonNameBeingMade:          CodeConflict,
	ReasonNameTaken:              CodeConflict,
	ReasonNameLength:             CodeInvalid,
	ReasonNameIsID:               CodeInvalid,
	ReasonImportUnderWay:         CodeBusy,
	ReasonDemoUnderWay:           CodeBusy,
	ReasonImportNoSpace:          CodeNoSpace,
	ReasonDiskFull:               CodeNoSpace,
	ReasonPathExists:             CodeConflict,
	ReasonPathVanished:           CodeConflict,
	ReasonPathChanged:            CodeConflict,
	ReasonPathMissing:            CodeNotFound,
	ReasonPathMissingThen:        CodeNotFound,
	ReasonPathOutside:            CodeInvalid,
	ReasonPathLength:             CodeInvalid,
	ReasonPathInGit:              CodeRefused,
	ReasonTargetTwice:            CodeInvalid,
	ReasonAlreadyThere:           CodeInvalid,
	ReasonIntoItself:             CodeInvalid,
	ReasonHoldsItself:            CodeInvalid,
	ReasonInTrash:                CodeInvalid,
	ReasonOneInsideOther:         CodeInvalid,
	ReasonNotInTrash:             CodeNotFound,
	ReasonNoTrashItem:            CodeInvalid,
	ReasonUploadTooLarge:         CodeTooLarge,
	ReasonTaskRunning:            CodeConflict,
	ReasonTooManyWindows:         CodeTooLarge,
	ReasonNoWindow:               CodeNotFound,
	ReasonNoRunHere:              CodeInvalid,
	ReasonTooManySettings:        CodeTooLarge,
	ReasonDraftTooLarge:          CodeTooLarge,
	ReasonDraftChanged:           CodeConflict,
	ReasonDraftsFull:             CodeTooLarge,
	ReasonNothingUnsaved:         CodeNotFound,
	ReasonNoDocumentThen:         CodeNotFound,
	ReasonDocumentExists:         CodeConflict,
	ReasonDocumentChanged:        CodeConflict,
	ReasonTitleBlank:             CodeInvalid,
	ReasonNoOverlay:              CodeNotFound,
	ReasonNotInLog:               CodeNotFound,
	ReasonSourceNotOlder:         CodeConflict,
	ReasonDesktopBudget:          CodeBudget,
	ReasonRunAtWork:              CodeConflict,
	ReasonNoSuchQuestion:         CodeConflict,
	ReasonRunEnded:               CodeConflict,
	ReasonNoRunToFollow:          CodeNotFound,
	ReasonRunNotEnded:            CodeConflict,
	ReasonUndoRunOpen:            CodeConflict,
	ReasonUndoNoFiles:            CodeConflict,
	ReasonUndoUnknown:            CodeNotFound,
	ReasonUndoCallOpen:           CodeConflict,
	ReasonUndoTaskOpen:           CodeConflict,
	ReasonUndoNeverBegan:         CodeConflict,
	ReasonTaskDoesNotStop:        CodeTimeout,
	ReasonRewindUnderWay:         CodeBusy,
	ReasonNoRewind:               CodeConflict,
	ReasonChangedOnBothSides:     CodeConflict,
	ReasonNoEvent:                CodeNotFound,
	ReasonNoSnapshotThen:         CodeNotFound,
	ReasonNoTerminalNow:          CodeConflict,
	ReasonTooManyTerminals:       CodeRateLimited,
	ReasonNoTerminal:             CodeNotFound,
	ReasonTypedTooFar:            CodeTooLarge,
	ReasonSandboxEnded:           CodeUnavailable,
	ReasonSandboxSilent:          CodeUnavailable,
	ReasonNoProject:              CodeNotFound,
	ReasonNotAProjectName:        CodeInvalid,
	ReasonNoProjectName:          CodeInvalid,
	ReasonNoWorkToExport:         CodeNotFound,
	ReasonUndoneNotCommitted:     CodeConflict,
	ReasonRepositoryBroken:       CodeConflict,
	ReasonNoModelKey:             CodeUnavailable,
	ReasonNoModel:                CodeUnavailable,
	ReasonNoModelFor:             CodeUnavailable,
	ReasonKeyRefused:             CodeRefused,
	ReasonKeyRefusedInForm:       CodeRefused,
	ReasonNoCredit:               CodeRefused,
	ReasonModelFailed:            CodeProvider,
	ReasonModelRefused:           CodeInvalid,
	ReasonModelNotThere:          CodeInvalid,
	ReasonModelOverloaded:        CodeOverloaded,
	ReasonModelUnreachable:       CodeUnavailable,
	ReasonModelUnreachableInForm: CodeUnavailable,
	ReasonModelSilent:            CodeTimeout,
	ReasonConnectUnderWay:        CodeBusy,
	ReasonRegionMissing:          CodeInvalid,
	ReasonKeyAgain:               CodeInvalid,
	ReasonKeyMissing:             CodeInvalid,
	ReasonKeyEmpty:               CodeInvalid,
	ReasonKeyTooLong:             CodeInvalid,
	ReasonKeyNotAlone:            CodeInvalid,
	ReasonNotAServiceName:        CodeInvalid,
	ReasonAddressNotHTTP:         CodeInvalid,
	ReasonAddressWithSecret:      CodeInvalid,
	ReasonAddressForbidden:       CodeInvalid,
	ReasonPriceUnknown:           CodeInvalid,
	ReasonPriceUnknownTested:     CodeInvalid,
	ReasonServiceUnknown:         CodeNotFound,
	ReasonKeyFileMissing:         CodeNotFound,
	ReasonKeyFileOpen:            CodeRefused,
	ReasonKeyFileEmpty:           CodeUnavailable,
	ReasonFieldRequired:          CodeInvalid,
	ReasonFieldUnknown:           CodeInvalid,
	ReasonFieldUnknownMeant:      CodeInvalid,
	ReasonFieldUnknownKnown:      CodeInvalid,
	ReasonFieldShort:             CodeInvalid,
	ReasonFieldLong:              CodeTooLarge,
	ReasonFieldFew:               CodeInvalid,
	ReasonFieldMany:              CodeTooLarge,
	ReasonFieldFewBytes:          CodeInvalid,
	ReasonFieldManyBytes:         CodeTooLarge,
	ReasonFieldRange:             CodeInvalid,
	ReasonFieldNoBoolean:         CodeInvalid,
	ReasonFieldNoNumber:          CodeInvalid,
	ReasonFieldNoText:            CodeInvalid,
	ReasonFieldNoList:            CodeInvalid,
	ReasonFieldNoObject:          CodeInvalid,
	ReasonFieldNoTime:            CodeInvalid,
	ReasonFieldNoBase64:          CodeInvalid,
	ReasonProjectNameRule:        CodeInvalid,
	ReasonFieldBeforeFrom:        CodeInvalid,
	ReasonOnlyForRequest:         CodeInvalid,
	ReasonOnlyForMinimised:       CodeInvalid,
	ReasonOnlyForSnapped:         CodeInvalid,
	ReasonFieldNotJSON:           CodeInvalid,
	ReasonFieldOutOfRange:        CodeInvalid,
	ReasonFieldTwice:             CodeInvalid,
	ReasonFieldBase64:            CodeInvalid,
	ReasonFieldWholeNumber:       CodeInvalid,
	ReasonFieldUuid:              CodeInvalid,
	ReasonFieldUuid7:             CodeInvalid,
	ReasonFieldDigest:            CodeInvalid,
	ReasonFieldOneOf:             CodeInvalid,
	ReasonEventTypeForm:          CodeInvalid,
	ReasonFieldTime:              CodeInvalid,
	ReasonEventTypeUnknown:       CodeInvalid,
	ReasonModelBudgetZero:        CodeInvalid,
	ReasonTaskGitAction:          CodeInvalid,
	ReasonTaskOnlyGit:            CodeInvalid,
	ReasonTaskGitArgs:            CodeInvalid,
	ReasonTaskOnlyEdit:           CodeInvalid,
	ReasonTaskWorktreeProject:    CodeInvalid,
	ReasonTaskWorktreeAttempt:    CodeInvalid,
	ReasonTaskTrigger:            CodeInvalid,
	ReasonTaskNoCommands:         CodeInvalid,
	ReasonArgvOrShell:            CodeInvalid,
	ReasonAllowlistMode:          CodeInvalid,
	ReasonStoreKeepsAll:          CodeUnavailable,
	ReasonBeingExported:          CodeBusy,
	ReasonWorkspaceToBecome:      CodeConflict,
	ReasonWorkspaceToRecord:      CodeConflict,
	ReasonImportLogDamaged:       CodeCorrupt,
	ReasonImportWorkspaceDiffers: CodeInvalid,
	ReasonImportOtherComputer:    CodeInvalid,
	ReasonImportBlobMissing:      CodeCorrupt,
	ReasonImportBlobSpare:        CodeInvalid,
	ReasonLogEndsElsewhere:       CodeCorrupt,
	ReasonNoSnapshotYet:          CodeNotFound,
	ReasonTakeFromItself:         CodeInvalid,
	ReasonNoSharedPast:           CodeConflict,
	ReasonNothingChangedThere:    CodeNotFound,
	ReasonFieldNoUTF8:            CodeInvalid,
	ReasonOverlayOutcome:         CodeInvalid,
	ReasonPageNameLine:           CodeInvalid,
	ReasonComputerClosed:         CodeUnavailable,
	ReasonFileOfNewerChoir:       CodeUnavailable,
	ReasonThemeNameRule:          CodeInvalid,
	ReasonTokenNameRule:          CodeInvalid,
	ReasonThemeTokenTwice:        CodeInvalid,
	ReasonThemeValueCharacter:    CodeInvalid,
	ReasonThemeValueComment:      CodeInvalid,
	ReasonThemeValueOpen:         CodeInvalid,
	ReasonThemeValueCall:         CodeInvalid,
	ReasonWindowNoChange:         CodeInvalid,
	ReasonRunOpensNone:           CodeInvalid,
	ReasonSettingNameRule:        CodeInvalid,
	ReasonAppNameRule:            CodeInvalid,
	ReasonFieldUnseen:            CodeInvalid,
	ReasonCheckpointLate:         CodeTimeout,
	ReasonTaskNotJSON:            CodeInvalid,
	ReasonGrantTooLong:           CodeInvalid,
	ReasonGrantScope:             CodeInvalid,
	ReasonGrantNoRun:             CodeNotFound,
	ReasonEventOfOther:           CodeNotFound,
	ReasonLogOfOther:             CodeConflict,
	ReasonMomentCollected:        CodeNotFound,
	ReasonProjectFolderThere:     CodeConflict,
	ReasonProjectNotTrashed:      CodeConflict,
	ReasonBeingCloned:            CodeBusy,
	ReasonExportFormat:           CodeInvalid,
	ReasonGitFailed:              CodeConflict,
	ReasonGitSlow:                CodeTimeout,
	ReasonFieldSaysNothing:       CodeInvalid,
	ReasonTooManyBroke:           CodeRateLimited,
	ReasonSourceAsShipped:        CodeConflict,
	ReasonNoFolder:               CodeNotFound,
	ReasonBrowserSlow:            CodeTimeout,
	ReasonFieldBeforeStart:       CodeInvalid,
	ReasonVersionAndAsOf:         CodeInvalid,
	ReasonFieldNoDigest:          CodeInvalid,
	ReasonFieldMustBeUuid7:       CodeInvalid,
	ReasonIfMatchMissing:         CodeInvalid,
	ReasonSeenMissing:            CodeInvalid,
	ReasonFieldNoEvent:           CodeInvalid,
	ReasonFieldOver:              CodeInvalid,
	ReasonReplayKeyUsed:          CodeInvalid,
	ReasonFieldNoOffset:          CodeInvalid,
	ReasonSeqOrCheckpoint:        CodeInvalid,
	ReasonMetricsToken:           CodeUnauthenticated,
	ReasonConnectionLost:         CodeUnavailable,
	ReasonServiceKeyStays:        CodeUnavailable,
	ReasonServiceChanged:         CodeUnavailable,
	ReasonGrantOneHost:           CodeInvalid,
	ReasonVaultKeyChanged:        CodeUnavailable,
	ReasonAllowlistWithNone:      CodeInvalid,
	ReasonEgressMode:             CodeInvalid,
	ReasonHostRule:               CodeInvalid,
	ReasonHostBelowAddress:       CodeInvalid,
	ReasonFieldNoPort:            CodeInvalid,
	ReasonHTTPMethodRule:         CodeInvalid,
	ReasonPathRule:               CodeInvalid,
	ReasonComputerStops:          CodeUnavailable,
	ReasonNoSuchRoute:            CodeNotFound,
	ReasonNoServiceWorker:        CodeForbidden,
	ReasonPageOfOther:            CodeForbidden,
	ReasonPageLeadsOut:           CodeForbidden,
	ReasonNotInBuild:             CodeUnavailable,
	ReasonChoirStopping:          CodeUnavailable,
	ReasonEgressModeGiven:        CodeConflict,
	ReasonNoConfiguration:        CodeUnavailable,
	ReasonComputerHibernates:     CodeUnavailable,
	ReasonNoSuchModel:            CodeNotFound,
	ReasonNoVault:                CodeUnavailable,
	ReasonVaultBoundElsewhere:    CodeConflict,
	ReasonVaultHostRule:          CodeInvalid,
	ReasonVaultOnlyGit:           CodeInvalid,
	ReasonVaultHeader:            CodeInvalid,
	ReasonVaultPrefix:            CodeInvalid,
	ReasonVaultNotGit:            CodeInvalid,
	ReasonVaultUser:              CodeInvalid,
	ReasonVaultGitMethods:        CodeInvalid,
	ReasonRecordLocks:            CodeUnavailable,
	ReasonDemoPlaying:            CodeConflict,
	ReasonDemoWouldReplace:       CodeConflict,
	ReasonSeatDown:               CodeUnavailable,
	ReasonSeatNoteDamaged:        CodeCorrupt,
	ReasonSeatOtherDriver:        CodeConflict,
	ReasonNotRunningHere:         CodeUnavailable,
	ReasonCookieNotKept:          CodeUnauthenticated,
	ReasonDesktopServerEnded:     CodeUnavailable,
	ReasonDesktopServerSlow:      CodeUnavailable,
	ReasonDesktopNoNode:          CodeUnavailable,
	ReasonArchivePathLong:        CodeInvalid,
	ReasonExportChanged:          CodeCorrupt,
	ReasonArchiveOrderBlob:       CodeInvalid,
	ReasonArchiveNoMember:        CodeInvalid,
	ReasonArchiveOrder:           CodeInvalid,
	ReasonArchiveNoLog:           CodeInvalid,
	ReasonArchiveListLarge:       CodeTooLarge,
	ReasonNotAnExport:            CodeInvalid,
	ReasonArchiveMemberLarge:     CodeTooLarge,
	ReasonTooDeep:                CodeTooLarge,
	ReasonEventMissing:           CodeCorrupt,
	ReasonLogEndsAt:              CodeCorrupt,
	ReasonEventOfNewerChoir:      CodeUnavailable,
	ReasonLogDamaged:             CodeCorrupt,
	ReasonLogReadOnly:            CodeUnavailable,
	ReasonRoleMayNotAppend:       CodeForbidden,
	ReasonEventNeeds:             CodeInvalid,
	ReasonEventAboutOther:        CodeInvalid,
	ReasonAppendAnswering:        CodeBusy,
	ReasonAppendCollided:         CodeBusy,
	ReasonAppendFirstFailed:      CodeBusy,
	ReasonFieldEventNumber:       CodeInvalid,
	ReasonAppendQueueFull:        CodeBusy,
	ReasonEventUnreadable:        CodeCorrupt,
	ReasonLogClosedBefore:        CodeUnavailable,
	ReasonLogClosed:              CodeUnavailable,
	ReasonSqliteOfNewer:          CodeUnavailable,
	ReasonSqliteNotReplaced:      CodeUnavailable,
	ReasonJournalReading:         CodeUnavailable,
	ReasonJournalDamaged:         CodeCorrupt,
	ReasonJournalClosed:          CodeUnavailable,
	ReasonEventDamaged:           CodeCorrupt,
	ReasonLogPartRepaired:        CodeBusy,
	ReasonNoEventYet:             CodeNotFound,
	ReasonJournalDamagedPart:     CodeCorrupt,
	ReasonModelCallFailed:        CodeProvider,
	ReasonConversationLong:       CodeTooLarge,
	ReasonModelConnectionBroke:   CodeProvider,
	ReasonModelStreamCut:         CodeProvider,
	ReasonModelStreamMalformed:   CodeProvider,
	ReasonModelNothingFor:        CodeTimeout,
	ReasonModelRedirects:         CodeProvider,
	ReasonModelContentType:       CodeProvider,
	ReasonWorkspaceTooMuch:       CodeTooLarge,
	ReasonRemovedMoved:           CodeConflict,
	ReasonTreeKeptChanging:       CodeConflict,
	ReasonProgramNotInBuild:      CodeUnavailable,
	ReasonModelCallStopped:       CodeCancelled,
	ReasonModelCallLong:          CodeTimeout,
}
