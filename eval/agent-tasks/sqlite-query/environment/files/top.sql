select name from people order by age;
