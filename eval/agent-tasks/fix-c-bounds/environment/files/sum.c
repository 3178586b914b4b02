#include <stdio.h>

int main(void) {
  int a[3] = {1, 2, 3};
  int sum = 0;
  for (int i = 0; i <= 3; i++) sum += i < 3 ? a[i] : 100;
  printf("%d\n", sum);
  return 0;
}
