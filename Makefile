# Every target is one line. What a learner calls needs Go, git, make (3.81 will
# do) and a POSIX shell, nothing else: shell built-ins instead of other programs.
# Longer work lives in scripts/.

.DEFAULT_GOAL := help
.SUFFIXES:
MAKEFLAGS += --no-print-directory

# Built outside the workspace, so that a chapter which is broken at the moment
# breaks no tool. Quiet when there is nothing to do.
NEED_GO  = command -v go >/dev/null || { echo 'error: no go on PATH' >&2; echo 'hint:  install Go 1.26 or newer: https://go.dev/doc/install' >&2; exit 2; }
FIRST    = [ -x bin/lab ] || echo 'building bin/lab: once, under a minute' >&2
LAB      = GOWORK=off go build -C runner -buildvcs=false -o ../bin/lab ./cmd/lab

help: ## these lines
	@while IFS= read -r l; do case $$l in '	'*) ;; *:*' ## '*) t=$${l%%:*}; case $$t in *%) t=$${t%?}N;; esac; printf '  make %-16s %s\n' "$$t" "$${l#*' ## '}";; '## '*) printf '\n%s\n' "$${l#'## '}";; esac; done < Makefile

## To learn: N is a chapter's number; CLUSTER and LAB_HOME pass through
list: lab ## the chapters, and how long they take
	@exec bin/lab list
progress: lab ## how far you are, and where to go on
	@exec bin/lab progress
chapter-%: lab ## check your answer (STEP=1.2: one step; ANSWER=solution: that answer)
	@exec bin/lab run $* $(if $(STEP),'$(STEP)') $(if $(ANSWER),--answer '$(ANSWER)')
hint: lab ## the next hint, of the chapter where you are
	@exec bin/lab hint
hint-%: lab ## the same of that chapter (STEP=1.2: of that step)
	@exec bin/lab hint $* $(if $(STEP),'$(STEP)')
solution-%: lab ## what the worked solution does differently (STEP=1.2: in its files)
	@exec bin/lab solution $* $(if $(STEP),'$(STEP)')
reset-%: lab ## the stubs again; your work is kept as a dated copy
	@exec bin/lab reset $*
cluster-up: lab ## start the cluster (a chapter does so by itself)
	@exec bin/lab cluster up
cluster-down: lab ## stop it
	@exec bin/lab cluster down
cluster-status: lab ## what runs, and how it is
	@exec bin/lab cluster status
doctor: lab ## see whether this machine has what the course needs
	@exec bin/lab doctor
lab: ## build bin/lab, the command behind these targets
	@$(NEED_GO); $(FIRST); $(LAB) || { [ -w . ] || echo 'hint:  this folder is read-only: clone the course into one that you can write to' >&2; exit 2; }
clean: lab ## stop the cluster, remove what was built; your kept work stays
	@bin/lab cluster down && for c in kind existing; do [ ! -d "$${LAB_HOME:-.lab}/clusters/$$c" ] || CLUSTER=$$c bin/lab cluster down || exit; done && rm -rf bin "$${LAB_HOME:-.lab}/clusters" "$${LAB_HOME:-.lab}/stage" "$${LAB_HOME:-.lab}/kubeconfig"

## To change the course
test: lab ## the tests of every module, and the proof of every chapter
	@exec scripts/test
test-kind: lab ## every chapter's stubs and solution on a kind cluster; needs Docker
	@exec scripts/test-kind
verify-%: lab ## the proof of one chapter: stubs, solution, mistakes, alternatives
	@exec bin/lab verify $*
bench-%: lab ## measure a chapter's table and chart anew; they are written into its lesson
	@exec bin/lab bench $*
flake: lab ## every verdict 25 times with all cores busy: hours, for the night
	@exec bin/lab flake
flake-%: lab ## the same for one chapter
	@exec bin/lab flake $*
verify: lab ## all of scripts/verify: lint, versions, stubs, lessons, cross-builds, …
	@exec scripts/tools/run verify all
update: lab ## all of scripts/update: writes what is generated
	@exec scripts/tools/run update all
node-image: ## the kind node image with no image registry: root and Debian, some minutes
	@exec scripts/node-image/build

.PHONY: help list hint cluster-up cluster-down cluster-status doctor lab clean test test-kind flake verify update node-image
