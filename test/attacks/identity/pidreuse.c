// Opens connections whose openers have ended, uses up process numbers, ends the
// role, and looks whether one of the connections is taken for the next role.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int fds[240], count;
static char answer[8192];
static const char *alive = "GET /openai/v1/models HTTP/1.1\r\nHost: x\r\n\r\n";
static const char *call = "POST /choir/v1/model HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}";

static int role_pid(void) {
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int found = 0;
	while ((entry = readdir(proc))) {
		int pid = atoi(entry->d_name);
		if (pid < 2) continue;
		char path[64], line[64] = {0};
		sprintf(path, "/proc/%d/cmdline", pid);
		FILE *f = fopen(path, "r");
		if (!f) continue;
		fread(line, 1, 63, f);
		fclose(f);
		if (!strcmp(line, "choir-associate")) { found = pid; break; }
	}
	closedir(proc);
	return found;
}

static int ask(int s, const char *request) {
	if (send(s, request, strlen(request), MSG_NOSIGNAL) < 0) return -1;
	struct timeval limit = {0, 100000};
	setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	int n = recv(s, answer, sizeof answer - 1, 0);
	answer[n > 0 ? n : 0] = 0;
	return n;
}

static void burn(long n) {
	for (long i = 0; i < n; i++) {
		if (!vfork()) _exit(0);
		int status;
		wait(&status);
	}
}

int main(int argc, char **argv) {
	int want = atoi(argv[1]), rounds = atoi(argv[3]);
	setbuf(stdout, 0);
	for (count = 0; count < want; count++) {
		int s = socket(AF_INET, SOCK_STREAM, 0);
		if (!vfork()) {
			struct sockaddr_in a = {AF_INET, htons(8801), {htonl(INADDR_LOOPBACK)}};
			connect(s, (void *)&a, sizeof a);
			_exit(0);
		}
		int status;
		wait(&status);
		fds[count] = s;
	}
	for (int i = 0; i < count; i++) ask(fds[i], alive);
	ask(fds[0], call);
	printf("before: %.60s\n", answer);
	burn(atol(argv[2]));
	for (int round = 0; round < rounds; round++) {
		if (round) burn(90);
		int was = role_pid(), is = 0;
		kill(was, SIGKILL);
		for (int i = 0; i < 300 && ((is = role_pid()) == 0 || is == was); i++) usleep(20000);
		usleep(150000);
		printf("round %d: role %d -> %d\n", round, was, is);
		for (int i = 0; i < count; i++)
			if (ask(fds[i], call) > 0 && strstr(answer, "\"call\"")) {
				printf("HIT connection %d: %.200s\n", i, answer);
				return 0;
			}
	}
	return 0;
}
